//! The schema of a table, as the protocol's "Schema Serialization Format" writes it.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A type without parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum PrimitiveType {
    /// `true` or `false`.
    Boolean,
    /// One byte, signed (`TINYINT`).
    Byte,
    /// Two bytes, signed (`SMALLINT`).
    Short,
    /// Four bytes, signed (`INT`).
    Integer,
    /// Eight bytes, signed (`BIGINT`).
    Long,
    /// IEEE 754 single precision.
    Float,
    /// IEEE 754 double precision.
    Double,
    /// A fixed-point number with `precision` digits, `scale` of them after the point.
    Decimal {
        /// All digits, 1 to 38.
        precision: u8,
        /// Digits after the point, at most `precision`.
        scale: u8,
    },
    /// UTF-8 text.
    String,
    /// Bytes.
    Binary,
    /// A day of the proleptic Gregorian calendar.
    Date,
    /// An instant, in microseconds.
    Timestamp,
    /// A local date and time without a zone, in microseconds. Needs the table feature `timestampNtz`.
    TimestampNtz,
}

impl PrimitiveType {
    /// Is it one of the four integer types?
    pub fn is_integral(self) -> bool {
        matches!(self, Self::Byte | Self::Short | Self::Integer | Self::Long)
    }

    /// Is it an integer, a decimal or a floating-point number?
    pub fn is_numeric(self) -> bool {
        self.is_integral() || matches!(self, Self::Float | Self::Double | Self::Decimal { .. })
    }
}

impl fmt::Display for PrimitiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Boolean => "boolean",
            Self::Byte => "byte",
            Self::Short => "short",
            Self::Integer => "integer",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Decimal { precision, scale } => return write!(f, "decimal({precision},{scale})"),
            Self::String => "string",
            Self::Binary => "binary",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::TimestampNtz => "timestamp_ntz",
        };
        f.write_str(name)
    }
}

/// A type name in a schema that this crate does not know.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{0}' is not a primitive type of the Delta protocol")]
pub struct UnknownType(pub String);

impl FromStr for PrimitiveType {
    type Err = UnknownType;

    fn from_str(text: &str) -> Result<Self, UnknownType> {
        let unknown = || UnknownType(text.to_owned());
        Ok(match text {
            "boolean" => Self::Boolean,
            "byte" => Self::Byte,
            "short" => Self::Short,
            "integer" => Self::Integer,
            "long" => Self::Long,
            "float" => Self::Float,
            "double" => Self::Double,
            "string" => Self::String,
            "binary" => Self::Binary,
            "date" => Self::Date,
            "timestamp" => Self::Timestamp,
            "timestamp_ntz" => Self::TimestampNtz,
            // Spark writes the bare word for its default precision.
            "decimal" => Self::Decimal { precision: 10, scale: 0 },
            _ => {
                let inner =
                    text.strip_prefix("decimal(").and_then(|rest| rest.strip_suffix(')')).ok_or_else(unknown)?;
                let (precision, scale) = inner.split_once(',').ok_or_else(unknown)?;
                let precision: u8 = precision.trim().parse().map_err(|_| unknown())?;
                let scale: u8 = scale.trim().parse().map_err(|_| unknown())?;
                if !(1..=38).contains(&precision) || scale > precision {
                    return Err(unknown());
                }
                Self::Decimal { precision, scale }
            }
        })
    }
}

/// A type of a column, of an element, of a key or of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DataType {
    /// A type without parts.
    Primitive(PrimitiveType),
    /// Named fields in order.
    Struct(Schema),
    /// A list.
    Array {
        /// The type of an element.
        element: Box<DataType>,
        /// May an element be null?
        contains_null: bool,
    },
    /// Keys with values.
    Map {
        /// The type of a key, never null.
        key: Box<DataType>,
        /// The type of a value.
        value: Box<DataType>,
        /// May a value be null?
        value_contains_null: bool,
    },
    /// A value of any shape with its own encoding. Needs the table feature `variantType`.
    Variant,
    /// A column in which nothing but NULL can stand, and which no data file holds.
    Void,
}

impl DataType {
    /// The primitive type, when it is one.
    pub fn primitive(&self) -> Option<PrimitiveType> {
        match self {
            Self::Primitive(primitive) => Some(*primitive),
            _ => None,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primitive(primitive) => primitive.fmt(f),
            Self::Struct(schema) => {
                f.write_str("struct<")?;
                for (i, field) in schema.fields.iter().enumerate() {
                    let comma = if i == 0 { "" } else { "," };
                    write!(f, "{comma}{}:{}", field.name, field.data_type)?;
                }
                f.write_str(">")
            }
            Self::Array { element, .. } => write!(f, "array<{element}>"),
            Self::Map { key, value, .. } => write!(f, "map<{key},{value}>"),
            Self::Variant => f.write_str("variant"),
            Self::Void => f.write_str("void"),
        }
    }
}

impl From<PrimitiveType> for DataType {
    fn from(primitive: PrimitiveType) -> Self {
        Self::Primitive(primitive)
    }
}

/// One column, or one field of a struct.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct Field {
    /// The logical name.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub data_type: DataType,
    /// May the value be null?
    pub nullable: bool,
    /// Comments, column-mapping ids, generation expressions and what else clients keep here.
    pub metadata: BTreeMap<String, serde_json::Value>,
}

impl<'de> Deserialize<'de> for Field {
    /// An error inside the type of a column names the column.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;

        #[derive(Deserialize)]
        struct Untyped {
            name: String,
            r#type: serde_json::Value,
            nullable: bool,
            #[serde(default)]
            metadata: BTreeMap<String, serde_json::Value>,
        }

        let Untyped { name, r#type, nullable, metadata } = Untyped::deserialize(deserializer)?;
        let data_type =
            serde_json::from_value(r#type).map_err(|error| D::Error::custom(format!("column '{name}': {error}")))?;
        Ok(Self { name, data_type, nullable, metadata })
    }
}

/// Columns in order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Schema {
    /// The columns.
    pub fields: Vec<Field>,
}

impl Schema {
    /// Reads the text of `metaData.schemaString`.
    ///
    /// # Errors
    /// When the text is not JSON of a struct type.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        match serde_json::from_str(text)? {
            DataType::Struct(schema) => Ok(schema),
            other => Err(serde::de::Error::custom(format!("a table's schema is a struct, this is {other}"))),
        }
    }

    /// The text for `metaData.schemaString`.
    pub fn to_json(&self) -> String {
        let document = serde_json::json!({"type": "struct", "fields": self.fields});
        document.to_string()
    }

    /// The position of a column by name. Letter case does not matter, as everywhere in Spark.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields
            .iter()
            .position(|field| field.name == name)
            .or_else(|| self.fields.iter().position(|field| field.name.to_lowercase() == name.to_lowercase()))
    }

    /// A column by name; letter case does not matter.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.index_of(name).map(|index| &self.fields[index])
    }
}

impl Serialize for DataType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        match self {
            Self::Primitive(_) | Self::Variant | Self::Void => serializer.collect_str(self),
            Self::Struct(schema) => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("type", "struct")?;
                map.serialize_entry("fields", &schema.fields)?;
                map.end()
            }
            Self::Array { element, contains_null } => {
                let mut map = serializer.serialize_map(Some(3))?;
                map.serialize_entry("type", "array")?;
                map.serialize_entry("elementType", element)?;
                map.serialize_entry("containsNull", contains_null)?;
                map.end()
            }
            Self::Map { key, value, value_contains_null } => {
                let mut map = serializer.serialize_map(Some(4))?;
                map.serialize_entry("type", "map")?;
                map.serialize_entry("keyType", key)?;
                map.serialize_entry("valueType", value)?;
                map.serialize_entry("valueContainsNull", value_contains_null)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for DataType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;

        #[derive(Deserialize)]
        #[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
        enum Complex {
            Struct { fields: Vec<Field> },
            Array { element_type: DataType, contains_null: bool },
            Map { key_type: DataType, value_type: DataType, value_contains_null: bool },
        }

        let json = serde_json::Value::deserialize(deserializer)?;
        if let serde_json::Value::String(text) = &json {
            return match text.as_str() {
                "variant" => Ok(Self::Variant),
                // Spark has called it both.
                "void" | "null" => Ok(Self::Void),
                text => text.parse().map(Self::Primitive).map_err(D::Error::custom),
            };
        }
        Ok(match serde_json::from_value(json).map_err(D::Error::custom)? {
            Complex::Struct { fields } => Self::Struct(Schema { fields }),
            Complex::Array { element_type, contains_null } => {
                Self::Array { element: Box::new(element_type), contains_null }
            }
            Complex::Map { key_type, value_type, value_contains_null } => {
                Self::Map { key: Box::new(key_type), value: Box::new(value_type), value_contains_null }
            }
        })
    }
}
