//! The Variant binary encoding, read. Every offset comes from the bytes, so none is trusted.

use serde_json::{Map, Number, Value as Json};

use super::super::{Value, decimal_text, uuid_text};

/// Nesting beyond this is refused: each level is a call.
const MAX_DEPTH: usize = 100;

/// Bytes that are no variant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the variant is damaged: {0}")]
pub struct VariantError(&'static str);

const CUT_OFF: VariantError = VariantError("it is cut off");

/// The value as JSON.
pub(super) fn to_json(metadata: &[u8], value: &[u8]) -> Result<Json, VariantError> {
    let names = Names::read(metadata)?;
    // What an object holds may lie anywhere, also twice: an honest value has no more parts, and no more text, than bytes.
    let mut budget = value.len().saturating_mul(2) + 16;
    json(&names, value, 0, &mut budget)
}

/// The dictionary of field names.
struct Names<'a> {
    width: usize,
    offsets: &'a [u8],
    bytes: &'a [u8],
}

impl<'a> Names<'a> {
    fn read(metadata: &'a [u8]) -> Result<Self, VariantError> {
        let (&header, rest) = metadata.split_first().ok_or(CUT_OFF)?;
        if header & 0xf != 1 {
            return Err(VariantError("its version is not 1"));
        }
        let width = usize::from(header >> 6) + 1;
        let count = number(rest, 0, width)?;
        let table = count.checked_add(1).and_then(|count| count.checked_mul(width)).ok_or(CUT_OFF)?;
        let rest = &rest[width..];
        let (offsets, bytes) = rest.split_at_checked(table).ok_or(CUT_OFF)?;
        Ok(Self { width, offsets, bytes })
    }

    fn get(&self, index: usize) -> Result<&'a str, VariantError> {
        let start = number(self.offsets, index, self.width)?;
        let end = number(self.offsets, index.checked_add(1).ok_or(CUT_OFF)?, self.width)?;
        let bytes = self.bytes.get(start..end).ok_or(CUT_OFF)?;
        std::str::from_utf8(bytes).map_err(|_| VariantError("a name is not UTF-8"))
    }
}

/// The `index`-th unsigned number of a table of numbers of `width` bytes.
fn number(table: &[u8], index: usize, width: usize) -> Result<usize, VariantError> {
    let start = index.checked_mul(width).ok_or(CUT_OFF)?;
    let end = start.checked_add(width).ok_or(CUT_OFF)?;
    let bytes = table.get(start..end).ok_or(CUT_OFF)?;
    Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

fn fixed<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], VariantError> {
    bytes.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).ok_or(CUT_OFF)
}

fn json(names: &Names<'_>, value: &[u8], depth: usize, budget: &mut usize) -> Result<Json, VariantError> {
    if depth > MAX_DEPTH {
        return Err(VariantError("it is nested too deeply"));
    }
    *budget = budget.checked_sub(1).ok_or(VariantError("its parts overlap"))?;
    let (&header, body) = value.split_first().ok_or(CUT_OFF)?;
    let detail = header >> 2;
    match header & 3 {
        0 => primitive(detail, body, budget),
        1 => text(body.get(..usize::from(detail)).ok_or(CUT_OFF)?, budget),
        2 => object(names, detail, body, depth, budget),
        _ => array(names, detail, body, depth, budget),
    }
}

fn object(names: &Names<'_>, detail: u8, body: &[u8], depth: usize, budget: &mut usize) -> Result<Json, VariantError> {
    let (offset_width, id_width) = (usize::from(detail & 3) + 1, usize::from(detail >> 2 & 3) + 1);
    let count_width = if detail >> 4 & 1 == 1 { 4 } else { 1 };
    let count = number(body, 0, count_width)?;
    let body = &body[count_width..];
    let ids = body.get(..count.checked_mul(id_width).ok_or(CUT_OFF)?).ok_or(CUT_OFF)?;
    let body = &body[ids.len()..];
    let table = count.checked_add(1).and_then(|count| count.checked_mul(offset_width)).ok_or(CUT_OFF)?;
    let (offsets, values) = body.split_at_checked(table).ok_or(CUT_OFF)?;
    let mut fields = Map::new();
    for index in 0..count {
        let name = names.get(number(ids, index, id_width)?)?;
        let value = values.get(number(offsets, index, offset_width)?..).ok_or(CUT_OFF)?;
        fields.insert(name.to_owned(), json(names, value, depth + 1, budget)?);
    }
    Ok(Json::Object(fields))
}

fn array(names: &Names<'_>, detail: u8, body: &[u8], depth: usize, budget: &mut usize) -> Result<Json, VariantError> {
    let offset_width = usize::from(detail & 3) + 1;
    let count_width = if detail >> 2 & 1 == 1 { 4 } else { 1 };
    let count = number(body, 0, count_width)?;
    let table = count.checked_add(1).and_then(|count| count.checked_mul(offset_width)).ok_or(CUT_OFF)?;
    let (offsets, values) = body[count_width..].split_at_checked(table).ok_or(CUT_OFF)?;
    let mut elements = Vec::new();
    for index in 0..count {
        let value = values.get(number(offsets, index, offset_width)?..).ok_or(CUT_OFF)?;
        elements.push(json(names, value, depth + 1, budget)?);
    }
    Ok(Json::Array(elements))
}

fn text(bytes: &[u8], budget: &mut usize) -> Result<Json, VariantError> {
    *budget = budget.checked_sub(bytes.len()).ok_or(VariantError("its parts overlap"))?;
    let text = std::str::from_utf8(bytes).map_err(|_| VariantError("a text is not UTF-8"))?;
    Ok(Json::String(text.to_owned()))
}

fn primitive(kind: u8, body: &[u8], budget: &mut usize) -> Result<Json, VariantError> {
    let shown = |value: Value| Json::String(value.to_string());
    let long = |bytes: &[u8]| fixed::<8>(bytes, 0).map(i64::from_le_bytes);
    let sized = || {
        let length = u32::from_le_bytes(fixed(body, 0)?) as usize;
        body.get(4..).and_then(|bytes| bytes.get(..length)).ok_or(CUT_OFF)
    };
    Ok(match kind {
        0 => Json::Null,
        1 => Json::Bool(true),
        2 => Json::Bool(false),
        3 => i8::from_le_bytes(fixed(body, 0)?).into(),
        4 => i16::from_le_bytes(fixed(body, 0)?).into(),
        5 => i32::from_le_bytes(fixed(body, 0)?).into(),
        6 => long(body)?.into(),
        7 => floating(f64::from_le_bytes(fixed(body, 0)?)),
        8..=10 => {
            let scale = fixed::<1>(body, 0)?[0];
            if scale > 38 {
                return Err(VariantError("the scale of a decimal is above 38"));
            }
            let unscaled = match kind {
                8 => i32::from_le_bytes(fixed(body, 1)?).into(),
                9 => i64::from_le_bytes(fixed(body, 1)?).into(),
                _ => i128::from_le_bytes(fixed(body, 1)?),
            };
            let text = decimal_text(unscaled, scale);
            // A number that a double would change stays text.
            match text.parse::<f64>() {
                Ok(number) if !text.contains('.') && number.abs() < 9e15 => (unscaled as i64).into(),
                Ok(number) if number.to_string() == text.trim_end_matches('0') => floating(number),
                _ => Json::String(text),
            }
        }
        11 => shown(Value::Date(i32::from_le_bytes(fixed(body, 0)?))),
        12 => shown(Value::Timestamp(long(body)?)),
        13 => shown(Value::TimestampNtz(long(body)?)),
        14 => floating(f32::from_le_bytes(fixed(body, 0)?).into()),
        15 => {
            let bytes = sized()?;
            *budget = budget.checked_sub(bytes.len()).ok_or(VariantError("its parts overlap"))?;
            Json::String(base64(bytes))
        }
        16 => text(sized()?, budget)?,
        17 => {
            let micros = long(body)?;
            let time = shown(Value::TimestampNtz(micros.rem_euclid(86_400_000_000)));
            let text = time.as_str().and_then(|text| text.split_once(' ')).map(|(_, time)| time.to_owned());
            Json::String(text.unwrap_or_default())
        }
        18 => shown(Value::Timestamp(long(body)?.div_euclid(1000))),
        19 => shown(Value::TimestampNtz(long(body)?.div_euclid(1000))),
        20 => Json::String(uuid_text(fixed(body, 0)?)),
        _ => return Err(VariantError("it is of a primitive type that is not known")),
    })
}

/// A number, or the text of one that JSON has not.
fn floating(number: f64) -> Json {
    Number::from_f64(number).map_or_else(|| Json::String(Value::Double(number).to_string()), Json::Number)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, i| bits << 8 | u32::from(group.get(i).copied().unwrap_or(0)));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= group.len() { digit.into() } else { '=' });
        }
    }
    text
}
