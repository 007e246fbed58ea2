use super::*;

fn check(metadata: &[u8], value: &[u8], expected: &str) {
    let variant = Variant { metadata: metadata.to_vec(), value: value.to_vec() };
    let found = variant.to_json().map_or_else(|error| error.to_string(), |json| json.to_string());
    assert_eq!(found, expected, "{value:02x?}");
}

/// No names.
const EMPTY: &[u8] = &[1, 0, 0];

#[test]
fn primitive_values_become_json() {
    for (value, expected) in [
        (&[0x00][..], "null"),
        (&[0x04], "true"),
        (&[0x08], "false"),
        (&[0x0c, 0xff], "-1"),
        (&[0x14, 0x39, 0x30, 0, 0], "12345"),
        (&[0x1c, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f], "1.5"),
        (&[0x1c, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f], "\"NaN\""),
        (&[0x20, 2, 0x39, 0x30, 0, 0], "123.45"),
        (&[0x2c, 0xff, 0xff, 0xff, 0xff], "\"1969-12-31\""),
        (&[0x30, 0x40, 0x42, 0x0f, 0, 0, 0, 0, 0], "\"1970-01-01 00:00:01\""),
        (&[0x3c, 2, 0, 0, 0, 1, 2], "\"AQI=\""),
        (&[0x09, b'h', b'i'], "\"hi\""),
        (&[0x40, 2, 0, 0, 0, b'h', b'i'], "\"hi\""),
    ] {
        check(EMPTY, value, expected);
    }
}

#[test]
fn objects_and_arrays_become_json() {
    // {"a": 1, "b": [2, null]}
    let metadata = [1, 2, 0, 1, 2, b'a', b'b'];
    let value = [0x02, 2, 0, 1, 0, 2, 9, 0x0c, 1, 0x03, 2, 0, 2, 3, 0x0c, 2, 0x00];
    check(&metadata, &value, r#"{"a":1,"b":[2,null]}"#);
}

#[test]
fn damaged_bytes_are_an_error_and_never_a_panic() {
    let metadata = [1, 2, 0, 1, 2, b'a', b'b'];
    let value = [0x02, 2, 0, 1, 0, 2, 9, 0x0c, 1, 0x03, 2, 0, 2, 3, 0x0c, 2, 0x00];
    for length in 0..value.len() {
        let cut = Variant { metadata: metadata.to_vec(), value: value[..length].to_vec() };
        assert!(cut.to_json().is_err(), "{length} bytes");
        assert!(cut.to_string().starts_with("0x"), "{length} bytes");
    }
    for at in 0..value.len() {
        for byte in 0..=255 {
            let mut value = value;
            value[at] = byte;
            // Either is fine: not every byte matters.
            let _ = Variant { metadata: metadata.to_vec(), value: value.to_vec() }.to_json();
        }
    }
    check(&[2, 0, 0], &[0], "the variant is damaged: its version is not 1");
    check(&[], &[0], "the variant is damaged: it is cut off");
}

#[test]
fn parts_that_overlap_do_not_multiply() {
    // Arrays whose elements all lie at the place of the next array: 20 levels of 250 elements each.
    let mut value = Vec::new();
    for _ in 0..20 {
        value.extend([0x03, 250]);
        value.extend([0; 251]);
    }
    value.push(0);
    check(EMPTY, &value, "the variant is damaged: its parts overlap");
}
