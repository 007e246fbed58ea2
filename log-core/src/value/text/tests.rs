use super::*;

/// Reads a text and shows the value; an error is `error`.
#[track_caller]
fn check(data_type: &str, text: &str, shown: &str) {
    let result = parse_text(text, data_type.parse().unwrap());
    assert_eq!(result.map_or("error".to_owned(), |value| value.to_string()), shown, "{data_type} from '{text}'");
}

#[test]
fn booleans() {
    for text in ["t", "TRUE", " y", "Yes\n", "1"] {
        check("boolean", text, "true");
    }
    for text in ["f", "False", "n", "no", "0"] {
        check("boolean", text, "false");
    }
    for text in ["", "on", "2", "tr ue"] {
        check("boolean", text, "error");
    }
}

#[test]
fn integers_are_whole_and_in_range() {
    check("byte", " -128\t", "-128");
    check("byte", "128", "error");
    check("short", "+32767", "32767");
    check("integer", "2147483648", "error");
    check("long", "-9223372036854775808", "-9223372036854775808");
    for text in ["", "-", "1.0", "1e3", "0x1", "1 2", "١"] {
        check("long", text, "error");
    }
}

#[test]
fn floating_point_numbers() {
    check("double", "1", "1.0");
    check("double", ".5", "0.5");
    check("double", "1.5D", "1.5");
    check("double", "1e10", "1.0E10");
    check("double", "10000000", "1.0E7");
    check("double", "9999999", "9999999.0");
    check("double", "0.001", "0.001");
    check("double", "0.00012", "1.2E-4");
    check("double", "-0", "-0.0");
    check("double", "1.7976931348623157E308", "1.7976931348623157E308");
    check("double", "4.9E-324", "5.0E-324");
    check("float", "0.1", "0.1");
    check("float", "16777216", "1.6777216E7");
    check("float", "3.4028235E38", "3.4028235E38");
    for text in ["inf", "+Infinity", "INFINITY"] {
        check("double", text, "Infinity");
    }
    check("float", "-inf", "-Infinity");
    check("float", "nan", "NaN");
    for text in ["", ".", "e5", "1_0", "-nan", "infin", "infinityd", "0x1p3", "--1"] {
        check("double", text, "error");
    }
}

#[test]
fn decimals_are_rounded_half_up_to_their_scale() {
    check("decimal(10,2)", "12.345", "12.35");
    check("decimal(10,2)", "-12.345", "-12.35");
    check("decimal(10,2)", "12.3449999", "12.34");
    check("decimal(10,2)", " +7 ", "7.00");
    check("decimal(10,2)", "0.004", "0.00");
    check("decimal(10,2)", "-0.05", "-0.05");
    check("decimal(10,0)", "0.5", "1");
    check("decimal(10,0)", "0.05", "0");
    check("decimal(10,2)", "1.5e3", "1500.00");
    check("decimal(10,2)", "1e-2", "0.01");
    check("decimal(10,2)", "1e-2147483648", "0.00");
    check("decimal(10,2)", "0e2147483647", "0.00");
    check("decimal(3,1)", "99.94", "99.9");
    check("decimal(3,1)", "99.95", "error");
    check("decimal(3,1)", "100", "error");
    check("decimal(38,0)", &"9".repeat(38), &"9".repeat(38));
    check("decimal(38,38)", &format!("-0.{}", "9".repeat(38)), &format!("-0.{}", "9".repeat(38)));
    check("decimal(38,0)", &"9".repeat(39), "error");
    for text in ["", ".", "1e", "1e2147483648", "NaN", "1,0", "- 1", "1e2147483647"] {
        check("decimal(10,2)", text, "error");
    }
}

#[test]
fn dates() {
    check("date", "2024-06-26", "2024-06-26");
    check("date", " 2024-6-1 ", "2024-06-01");
    check("date", "2024-06", "2024-06-01");
    check("date", "2024", "2024-01-01");
    check("date", "2024-02-29", "2024-02-29");
    check("date", "0001-01-01", "0001-01-01");
    check("date", "9999-12-31", "9999-12-31");
    check("date", "2024-06-26T12:00:00Z", "2024-06-26");
    for text in ["", "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-04-31", "0000-01-01"] {
        check("date", text, "error");
    }
    for text in
        ["20240626", "24-06-26", "2024/06/26", "2024-06-26x", "-2024-01-01", "2024-01-01-01", "2024T10", "10000-01-01"]
    {
        check("date", text, "error");
    }
}

#[test]
fn timestamps_are_utc_without_a_zone() {
    for text in [
        "2024-06-26 12:00:00",
        "2024-06-26T12:00:00.000000Z",
        "2024-06-26T12:00:00Z",
        "2024-06-26 12:00",
        "2024-6-26 12",
        "2024-06-26 12:00:00 UTC",
        "2024-06-26 14:00:00+02:00",
        "2024-06-26 07:00:00-0500",
        "2024-06-26T22:00:00UTC+10:00",
        "2024-06-26T22:00:00 GMT+10",
        "2024-06-26 12:00:01+00:00:01",
        "2024-06-27 06:00:00+18:00",
    ] {
        check("timestamp", text, "2024-06-26 12:00:00");
    }
    check("timestamp", "2024-06-26", "2024-06-26 00:00:00");
    check("timestamp", "2024-06-26 12:00:00.5", "2024-06-26 12:00:00.5");
    check("timestamp", "2024-06-26 12:00:00.123456789", "2024-06-26 12:00:00.123456");
    check("timestamp", "1969-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999");
    check("timestamp", "0001-01-01 00:00:00", "0001-01-01 00:00:00");
    check("timestamp", "0001-01-01 00:00:00+02:00", "0000-12-31 22:00:00");
    check("timestamp", "9999-12-31 23:59:59.999999-18:00", "+10000-01-01 17:59:59.999999");
    for text in [
        "",
        "12:00:00",
        "2024-06-26 24:00:00",
        "2024-06-26 12:60:00",
        "2024-06-26 12:00:60",
        "2024-06-26 12:00:00.1234567890",
        "2024-06-26 12:00.5",
        "2024-06-26 12:00:00+18:01",
        "2024-06-26 12:00:00+2:0:0:0",
        "2024-06-26 12:00:00 Europe/Berlin",
        "2024-06-26 12:00:00Z+01:00",
        "2024-06-26 12:00:00ü",
        "2024-02-30 12:00:00",
    ] {
        check("timestamp", text, "error");
    }
}

#[test]
fn a_timestamp_without_zone_drops_the_zone_of_its_text() {
    check("timestamp_ntz", "2024-06-26 14:00:00+02:00", "2024-06-26 14:00:00");
}

#[test]
fn strings_and_binary_keep_their_blanks() {
    check("string", " a ", " a ");
    check("binary", " a", "0x2061");
}

#[test]
fn null_is_shown_as_null() {
    assert_eq!(Value::Null.to_string(), "NULL");
}

#[test]
fn a_value_comes_back_from_its_text() {
    for value in [
        Value::Float(f32::MIN_POSITIVE),
        Value::Float(-1.1754942e-38),
        Value::Double(f64::MAX),
        Value::Double(0.1 + 0.2),
        Value::Double(f64::NEG_INFINITY),
        Value::Double(f64::NAN),
        Value::Decimal { unscaled: -5, precision: 5, scale: 5 },
        Value::Date(-1),
        Value::Timestamp(-1),
        Value::TimestampNtz(1_700_000_000_000_001),
        Value::Long(i64::MIN),
        Value::Boolean(false),
    ] {
        assert_eq!(parse_text(&value.to_string(), value.primitive_type().unwrap()), Ok(value));
    }
}

#[test]
fn no_text_panics() {
    let fragments = [
        "",
        " ",
        "-",
        "+",
        ":",
        ".",
        "T",
        "Z",
        "UTC",
        "e",
        "0",
        "9999999999999999999",
        "2024-06-26",
        "12:00:00",
        "ü",
        "\0",
    ];
    let types = [
        "boolean",
        "byte",
        "long",
        "float",
        "decimal(38,38)",
        "string",
        "binary",
        "date",
        "timestamp",
        "timestamp_ntz",
    ];
    for data_type in types.map(|name| name.parse::<PrimitiveType>().unwrap()) {
        for (a, b) in fragments.iter().flat_map(|a| fragments.map(|b| (a, b))) {
            for (c, d) in fragments.iter().flat_map(|c| fragments.map(|d| (c, d))) {
                if let Ok(value) = parse_text(&format!("{a}{b}{c}{d}"), data_type) {
                    assert_eq!(value.primitive_type(), Some(data_type));
                }
            }
        }
    }
}
