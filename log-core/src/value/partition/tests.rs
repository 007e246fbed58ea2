use super::*;

/// Reads a partition text and writes the value again; an error is `error`.
#[track_caller]
fn check(data_type: &str, text: Option<&str>, written: Option<&str>) {
    let value = parse_partition_value(text, data_type.parse().unwrap());
    let again = value.map_or(Some("error".to_owned()), |value| partition_text(&value));
    assert_eq!(again.as_deref(), written, "{data_type} from {text:?}");
}

#[test]
fn null_and_the_empty_text_are_null() {
    for data_type in ["string", "integer", "timestamp", "binary", "boolean"] {
        check(data_type, None, None);
        check(data_type, Some(""), None);
    }
    assert_eq!(partition_text(&Value::String(String::new())), None);
    assert_eq!(partition_text(&Value::Binary(vec![])), None);
}

#[test]
fn strings_stand_as_they_are() {
    for text in [
        "null",
        "NULL",
        "__HIVE_DEFAULT_PARTITION__",
        "AB1+2",
        "a/b",
        "/a",
        "%",
        "%2F",
        "a=b",
        " a b ",
        "..",
        "ü",
        "🦀",
    ] {
        check("string", Some(text), Some(text));
        check("binary", Some(text), Some(text));
    }
    check("binary", Some("\u{1}\u{2}"), Some("\u{1}\u{2}"));
}

#[test]
fn a_timestamp_is_written_in_one_way() {
    for text in [
        "2024-06-01 12:00:00",
        "2024-06-01 12:00:00.000000",
        "2024-06-01T12:00:00.000000Z",
        "2024-06-01T12:00:00Z",
        "2024-06-01T14:00:00+02:00",
    ] {
        check("timestamp", Some(text), Some("2024-06-01T12:00:00.000000Z"));
    }
    check("timestamp", Some("1969-12-31 23:59:59.999999"), Some("1969-12-31T23:59:59.999999Z"));
    check("timestamp", Some("0001-01-01 00:00:00"), Some("0001-01-01T00:00:00.000000Z"));
    check("timestamp_ntz", Some("2024-06-01 12:00:00.500000"), Some("2024-06-01 12:00:00.5"));
}

#[test]
fn numbers_dates_and_booleans() {
    check("integer", Some("-7"), Some("-7"));
    check("long", Some("9223372036854775807"), Some("9223372036854775807"));
    check("decimal(5,2)", Some("1.5"), Some("1.50"));
    check("double", Some("1e20"), Some("1.0E20"));
    check("date", Some("2024-06-01"), Some("2024-06-01"));
    check("boolean", Some("true"), Some("true"));
}

#[test]
fn text_of_another_type_is_an_error() {
    check("integer", Some("null"), Some("error"));
    check("date", Some("__HIVE_DEFAULT_PARTITION__"), Some("error"));
    check("byte", Some("300"), Some("error"));
    check("timestamp", Some("soon"), Some("error"));
}
