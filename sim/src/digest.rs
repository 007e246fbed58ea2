//! The canonical text of rows, and its digest, by which the contents of tables are compared across clients.
//!
//! A row is one JSON array without spaces, its values in the order of the schema: null, `true`/`false` and integers as themselves; a float
//! as `"f32:"` and a double as `"f64:"` with the IEEE bits in hexadecimal, every NaN as `"nan"`; a decimal as text with exactly its scale; text as
//! text without ASCII escapes; binary as `"0x"` and hexadecimal; a date as days, a timestamp as microseconds since 1970; a struct
//! as an array in the order of its fields; an array as an array; a map as an array of `[key, value]`, sorted by the text of the key; a variant as an
//! array of two binary texts, value and metadata, for which no two clients agree. Rows are sorted by their UTF-8 bytes, each is followed by a line
//! break.

use std::{fmt::Write as _, ops::Range};

use arrow::array::RecordBatch;
use log_core::{batch::nested_value_at, schema::Schema, value::Value};
use sha2::{Digest, Sha256};

/// The texts of rows, one behind the other: rows themselves would take several times as much memory.
#[derive(Clone, Debug, Default)]
pub struct RowTexts {
    texts: String,
    rows: Vec<Range<usize>>,
}

impl RowTexts {
    /// Adds a row.
    pub fn push<'a>(&mut self, row: impl IntoIterator<Item = &'a Value>) {
        let start = self.texts.len();
        write_list(&mut self.texts, row, write_value);
        self.rows.push(start..self.texts.len());
    }

    /// Adds the rows of a batch, which is of the schema.
    ///
    /// # Panics
    /// When it is not.
    pub fn push_batch(&mut self, batch: &RecordBatch, schema: &Schema) {
        for row in 0..batch.num_rows() {
            let start = self.texts.len();
            let cells = batch.columns().iter().zip(&schema.fields);
            write_list(&mut self.texts, cells, |text, (column, field)| {
                write_value(text, &nested_value_at(column, &field.data_type, row));
            });
            self.rows.push(start..self.texts.len());
        }
    }

    /// How many rows.
    pub fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    /// No rows?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The SHA-256 of the rows in canonical order, in hexadecimal.
    pub fn sha256(mut self) -> String {
        let texts = self.texts.as_bytes();
        self.rows.sort_unstable_by(|a, b| texts[a.clone()].cmp(&texts[b.clone()]));
        let mut hash = Sha256::new();
        for row in self.rows {
            hash.update(&texts[row]);
            hash.update(b"\n");
        }
        hexadecimal(&hash.finalize())
    }
}

/// The canonical text of one row, without the line break.
pub fn row_text(row: &[Value]) -> String {
    let mut text = String::new();
    write_list(&mut text, row, write_value);
    text
}

/// The SHA-256 of rows in canonical order, in hexadecimal.
pub fn rows_sha256<'a>(rows: impl IntoIterator<Item = &'a [Value]>) -> String {
    let mut texts = RowTexts::default();
    rows.into_iter().for_each(|row| texts.push(row));
    texts.sha256()
}

/// Bytes in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes every text");
    }
    text
}

fn value_text(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

/// A JSON array without spaces.
fn write_list<T>(text: &mut String, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    text.push('[');
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        write(text, item);
    }
    text.push(']');
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
        Value::Struct(parts) | Value::Array(parts) => {
            write_list(text, parts.iter(), write_value);
            Ok(())
        }
        Value::Map(entries) => {
            let mut texts: Vec<(String, &Value)> =
                entries.iter().map(|(key, value)| (value_text(key), value)).collect();
            texts.sort_by(|(a, _), (b, _)| a.cmp(b));
            write_list(text, texts, |text, (key, value)| {
                write!(text, "[{key},").expect("a string takes every text");
                write_value(text, value);
                text.push(']');
            });
            Ok(())
        }
        Value::Variant(variant) => {
            write!(text, "[\"0x{}\",\"0x{}\"]", hexadecimal(&variant.value), hexadecimal(&variant.metadata))
        }
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
    fn nested_values_are_arrays() {
        let text = |text: &str| Value::String(text.to_owned());
        let map = [(text("b"), Value::Null), (text("a"), Value::Integer(1))];
        let row = [
            Value::Struct([Value::Integer(1), Value::Null].into()),
            Value::Array([text("x"), Value::Array([].into())].into()),
            Value::Map(map.into()),
        ];
        assert_eq!(row_text(&row), r#"[[1,null],["x",[]],[["a",1],["b",null]]]"#);
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
