//! One value of a column: of a row, of a partition, of a statistic.

mod calendar;
mod partition;
mod text;
mod variant;

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    sync::Arc,
};

pub(crate) use calendar::{MICROS_PER_DAY, MICROS_PER_SECOND, date_text, days_in_month, seconds_text};
pub use calendar::{civil_from_days, days_from_civil};
pub use partition::{PartitionValueError, parse_partition_value, partition_text};
pub use text::{ParseValueError, parse_text};
pub(crate) use text::{decimal_text, parse_decimal, uuid_text};
pub use variant::{Variant, VariantError};

use crate::schema::PrimitiveType;

/// A single value, or NULL.
///
/// Equality, hash and order are those of *identity*, so that rows can be counted and sorted: NULL comes first and equals itself, floating-point
/// numbers compare by total order with every NaN equal and `-0.0` equal to `0.0`. What SQL's `=` and `<` say is
/// [`compare`](Value::compare).
#[derive(Clone, Debug)]
pub enum Value {
    /// No value. It carries no type.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A one-byte integer.
    Byte(i8),
    /// A two-byte integer.
    Short(i16),
    /// A four-byte integer.
    Integer(i32),
    /// An eight-byte integer.
    Long(i64),
    /// A single-precision number.
    Float(f32),
    /// A double-precision number.
    Double(f64),
    /// A fixed-point number: `unscaled` / 10^`scale`.
    Decimal {
        /// The digits as an integer.
        unscaled: i128,
        /// All digits of the type.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// Text.
    String(String),
    /// Bytes.
    Binary(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01T00:00:00Z.
    Timestamp(i64),
    /// Microseconds since 1970-01-01 00:00:00 without a zone.
    TimestampNtz(i64),
    /// The fields of a struct, in the order of its type.
    Struct(Arc<[Value]>),
    /// The elements of a list.
    Array(Arc<[Value]>),
    /// Keys with their values. Their order does not count.
    Map(Arc<[(Value, Value)]>),
    /// A value of any shape.
    Variant(Arc<Variant>),
}

impl Value {
    /// Is it NULL?
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The type, `None` for NULL and for what has parts.
    pub fn primitive_type(&self) -> Option<PrimitiveType> {
        Some(match self {
            Self::Null | Self::Struct(_) | Self::Array(_) | Self::Map(_) | Self::Variant(_) => return None,
            Self::Boolean(_) => PrimitiveType::Boolean,
            Self::Byte(_) => PrimitiveType::Byte,
            Self::Short(_) => PrimitiveType::Short,
            Self::Integer(_) => PrimitiveType::Integer,
            Self::Long(_) => PrimitiveType::Long,
            Self::Float(_) => PrimitiveType::Float,
            Self::Double(_) => PrimitiveType::Double,
            Self::Decimal { precision, scale, .. } => PrimitiveType::Decimal { precision: *precision, scale: *scale },
            Self::String(_) => PrimitiveType::String,
            Self::Binary(_) => PrimitiveType::Binary,
            Self::Date(_) => PrimitiveType::Date,
            Self::Timestamp(_) => PrimitiveType::Timestamp,
            Self::TimestampNtz(_) => PrimitiveType::TimestampNtz,
        })
    }

    /// SQL comparison of two values of one type: `None` when either is NULL. NaN equals NaN and is greater than every other number, as
    /// in Spark.
    ///
    /// # Panics
    /// When the types differ: an expression is typed before it is evaluated, so that would be our own bug.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        if self.is_null() || other.is_null() {
            return None;
        }
        assert_eq!(self.rank(), other.rank(), "comparison of {self:?} with {other:?}");
        Some(self.cmp(other))
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Boolean(_) => 1,
            Self::Byte(_) => 2,
            Self::Short(_) => 3,
            Self::Integer(_) => 4,
            Self::Long(_) => 5,
            Self::Float(_) => 6,
            Self::Double(_) => 7,
            Self::Decimal { .. } => 8,
            Self::String(_) => 9,
            Self::Binary(_) => 10,
            Self::Date(_) => 11,
            Self::Timestamp(_) => 12,
            Self::TimestampNtz(_) => 13,
            Self::Struct(_) => 14,
            Self::Array(_) => 15,
            Self::Map(_) => 16,
            Self::Variant(_) => 17,
        }
    }
}

/// Total order in which every NaN is equal and greatest, and both zeros are equal.
fn compare_doubles(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => a.partial_cmp(&b).expect("neither is NaN"),
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::Byte(a), Self::Byte(b)) => a.cmp(b),
            (Self::Short(a), Self::Short(b)) => a.cmp(b),
            (Self::Integer(a), Self::Integer(b)) | (Self::Date(a), Self::Date(b)) => a.cmp(b),
            (Self::Long(a), Self::Long(b))
            | (Self::Timestamp(a), Self::Timestamp(b))
            | (Self::TimestampNtz(a), Self::TimestampNtz(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => compare_doubles(f64::from(*a), f64::from(*b)),
            (Self::Double(a), Self::Double(b)) => compare_doubles(*a, *b),
            (Self::Decimal { unscaled: a, scale: a_scale, .. }, Self::Decimal { unscaled: b, scale: b_scale, .. }) => {
                compare_decimals(*a, *a_scale, *b, *b_scale)
            }
            (Self::String(a), Self::String(b)) => a.cmp(b),
            (Self::Binary(a), Self::Binary(b)) => a.cmp(b),
            (Self::Struct(a), Self::Struct(b)) | (Self::Array(a), Self::Array(b)) => a.cmp(b),
            (Self::Map(a), Self::Map(b)) => sorted(a).cmp(&sorted(b)),
            (Self::Variant(a), Self::Variant(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// The entries of a map in order of their keys.
fn sorted(entries: &[(Value, Value)]) -> Vec<&(Value, Value)> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort();
    sorted
}

/// Compares `a / 10^a_scale` with `b / 10^b_scale` without overflow.
fn compare_decimals(a: i128, a_scale: u8, b: i128, b_scale: u8) -> Ordering {
    let split = |unscaled: i128, scale: u8| {
        let unit = 10_i128.pow(u32::from(scale.min(38)));
        let padding = 10_i128.pow(u32::from(38 - scale.min(38)));
        // Integer part, then the fraction brought to 38 digits: both fit.
        (unscaled.div_euclid(unit), unscaled.rem_euclid(unit) * padding)
    };
    split(a, a_scale).cmp(&split(b, b_scale))
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        let bits = |x: f64| {
            if x.is_nan() {
                f64::NAN.to_bits()
            } else if x == 0.0 {
                0
            } else {
                x.to_bits()
            }
        };
        match self {
            Self::Null => {}
            Self::Boolean(x) => x.hash(state),
            Self::Byte(x) => x.hash(state),
            Self::Short(x) => x.hash(state),
            Self::Integer(x) | Self::Date(x) => x.hash(state),
            Self::Long(x) | Self::Timestamp(x) | Self::TimestampNtz(x) => x.hash(state),
            Self::Float(x) => bits(f64::from(*x)).hash(state),
            Self::Double(x) => bits(*x).hash(state),
            Self::Decimal { unscaled, scale, .. } => {
                // Equal numbers of different scale must hash alike: strip trailing zeros.
                let (mut unscaled, mut scale) = (*unscaled, *scale);
                while scale > 0 && unscaled % 10 == 0 {
                    unscaled /= 10;
                    scale -= 1;
                }
                (unscaled, scale).hash(state);
            }
            Self::String(x) => x.hash(state),
            Self::Binary(x) => x.hash(state),
            Self::Struct(x) | Self::Array(x) => x.hash(state),
            Self::Map(entries) => sorted(entries).hash(state),
            Self::Variant(x) => x.hash(state),
        }
    }
}
