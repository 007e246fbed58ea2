//! Names of types.

use log_core::schema::PrimitiveType;

/// The type of a name such as `BIGINT` or `decimal(10, 2)`, in any letter case.
///
/// # Errors
/// A message without a position, when this version does not have the type.
pub(crate) fn primitive_type(text: &str) -> Result<PrimitiveType, String> {
    use PrimitiveType as T;
    let upper = text.to_uppercase();
    let (name, arguments) = match upper.split_once('(') {
        None => (upper.trim(), None),
        Some((name, rest)) => (name.trim(), Some(rest.trim_end().strip_suffix(')').unwrap_or(rest))),
    };
    let unknown = || format!("the type {} is not supported by this version", text.trim());
    let plain = match name {
        "BOOLEAN" | "BOOL" => T::Boolean,
        "TINYINT" | "BYTE" => T::Byte,
        "SMALLINT" | "SHORT" => T::Short,
        "INT" | "INTEGER" => T::Integer,
        "BIGINT" | "LONG" => T::Long,
        "FLOAT" | "REAL" => T::Float,
        "DOUBLE" => T::Double,
        "DECIMAL" | "NUMERIC" | "DEC" => return decimal(arguments, text),
        "STRING" | "TEXT" => T::String,
        // Delta keeps the length in the column's metadata; here it only has to be a number.
        "VARCHAR" => {
            let length = arguments.ok_or("VARCHAR needs a length, as in VARCHAR(20); or use STRING")?;
            return length.trim().parse::<u32>().map(|_| T::String).map_err(|_| unknown());
        }
        "BINARY" => T::Binary,
        "DATE" => T::Date,
        "TIMESTAMP" => T::Timestamp,
        "TIMESTAMP_NTZ" => T::TimestampNtz,
        _ => return Err(unknown()),
    };
    match arguments {
        None => Ok(plain),
        Some(_) => Err(unknown()),
    }
}

fn decimal(arguments: Option<&str>, text: &str) -> Result<PrimitiveType, String> {
    let Some(arguments) = arguments else { return Ok(PrimitiveType::Decimal { precision: 10, scale: 0 }) };
    let (precision, scale) = arguments.split_once(',').unwrap_or((arguments, "0"));
    match (precision.trim().parse(), scale.trim().parse()) {
        (Ok(precision), Ok(scale)) if (1..=38).contains(&precision) && scale <= precision => {
            Ok(PrimitiveType::Decimal { precision, scale })
        }
        _ => Err(format!(
            "{} is not a decimal type: it needs 1 to 38 digits, and not more of them after the point",
            text.trim()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_type() {
        for (text, expected) in [
            ("boolean", "boolean"),
            ("TinyInt", "byte"),
            ("byte", "byte"),
            ("SMALLINT", "short"),
            ("short", "short"),
            ("int", "integer"),
            ("Integer", "integer"),
            ("BIGINT", "long"),
            ("long", "long"),
            ("float", "float"),
            ("real", "float"),
            ("double", "double"),
            ("decimal", "decimal(10,0)"),
            ("DEC(5)", "decimal(5,0)"),
            ("numeric(12, 2)", "decimal(12,2)"),
            ("string", "string"),
            ("text", "string"),
            ("varchar(10)", "string"),
            ("binary", "binary"),
            ("date", "date"),
            ("timestamp", "timestamp"),
            ("TIMESTAMP_NTZ", "timestamp_ntz"),
        ] {
            assert_eq!(primitive_type(text).unwrap().to_string(), expected, "{text}");
        }
        for (text, expected) in [
            ("UUID", "the type UUID is not supported by this version"),
            ("int(4)", "the type int(4) is not supported by this version"),
            ("varchar", "VARCHAR needs a length, as in VARCHAR(20); or use STRING"),
            (
                "decimal(39,1)",
                "decimal(39,1) is not a decimal type: it needs 1 to 38 digits, and not more of them after the point",
            ),
        ] {
            assert_eq!(primitive_type(text).unwrap_err(), expected);
        }
    }
}
