//! The canonical text of rows, and its digest, by which the contents of tables are compared across clients.
//!
//! A row is one JSON array without spaces, its values in the order of the schema: null, `true`/`false` and integers as themselves; a float
//! as `"f32:"` and a double as `"f64:"` with the IEEE bits in hexadecimal, every NaN as `"nan"`; a decimal as text with exactly its scale; text as
//! text without ASCII escapes; binary as `"0x"` and hexadecimal; a date as days, a timestamp as microseconds since 1970. Rows are sorted
//! by their UTF-8 bytes, each is followed by a line break.

use std::fmt::Write as _;

use log_core::value::Value;
use sha2::{Digest, Sha256};

/// The canonical text of one row, without the line break.
pub fn row_text(row: &[Value]) -> String {
    let mut text = String::from("[");
    for (i, value) in row.iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        write_value(&mut text, value);
    }
    text.push(']');
    text
}

/// The SHA-256 of rows in canonical order, in hexadecimal.
pub fn rows_sha256<'a>(rows: impl IntoIterator<Item = &'a [Value]>) -> String {
    let mut texts: Vec<String> = rows.into_iter().map(row_text).collect();
    texts.sort_unstable();
    let mut hash = Sha256::new();
    for text in &texts {
        hash.update(text.as_bytes());
        hash.update(b"\n");
    }
    hexadecimal(&hash.finalize())
}

/// Bytes in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes every text");
    }
    text
}

fn write_value(text: &mut String, value: &Value) {
    let result = match value {
        Value::Null => write!(text, "null"),
        Value::Boolean(x) => write!(text, "{x}"),
        Value::Byte(x) => write!(text, "{x}"),
        Value::Short(x) => write!(text, "{x}"),
        Value::Integer(x) | Value::Date(x) => write!(text, "{x}"),
        Value::Long(x) | Value::Timestamp(x) | Value::TimestampNtz(x) => write!(text, "{x}"),
        Value::Float(x) if x.is_nan() => write!(text, "\"nan\""),
        Value::Float(x) => write!(text, "\"f32:{:08x}\"", x.to_bits()),
        Value::Double(x) if x.is_nan() => write!(text, "\"nan\""),
        Value::Double(x) => write!(text, "\"f64:{:016x}\"", x.to_bits()),
        Value::Decimal { .. } => write!(text, "\"{value}\""),
        Value::String(x) => {
            text.push_str(&serde_json::to_string(x).expect("a string is JSON"));
            Ok(())
        }
        Value::Binary(x) => write!(text, "\"0x{}\"", hexadecimal(x)),
    };
    result.expect("a string takes every text");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_independent_clients() {
        // From the exploration facts: the empty table, and one row of two columns.
        assert_eq!(rows_sha256([]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        let row = [Value::Integer(5), Value::Integer(5)];
        let digest = "07c03eed6fb97ad172f0afcbe3bbb4bf8ef577c4c11ba4f368c753efda0fb3eb";
        assert_eq!(rows_sha256([row.as_slice()]), digest);
    }

    #[test]
    fn the_order_of_rows_does_not_matter() {
        let rows: Vec<[Value; 1]> = (1..=12).map(|n| [Value::Integer(n)]).collect();
        let digest = rows_sha256(rows.iter().map(|row| row.as_slice()));
        assert_eq!(digest, rows_sha256(rows.iter().rev().map(|row| row.as_slice())));
    }

    #[test]
    fn every_type_has_its_text() {
        let row = [
            Value::Null,
            Value::Boolean(true),
            Value::Double(1.0),
            Value::Double(f64::NAN),
            Value::Float(-0.0),
            Value::String("ä\"\n".to_owned()),
            Value::Binary(vec![0, 255]),
            Value::Date(-1),
        ];
        let expected = r#"[null,true,"f64:3ff0000000000000","nan","f32:80000000","ä\"\n","0x00ff",-1]"#;
        assert_eq!(row_text(&row), expected);
    }
}
