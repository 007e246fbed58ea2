//! Values of every primitive type, and rows.

use std::collections::BTreeMap;

use log_core::{
    schema::{DataType, Field, PrimitiveType as T, Schema},
    value::Value,
};
use proptest::{prelude::*, sample::select};

/// The types of the columns of [`schema`]: each type, and decimals at the ends of what they can be.
pub const TYPES: [T; 17] = [
    T::Boolean,
    T::Byte,
    T::Short,
    T::Integer,
    T::Long,
    T::Float,
    T::Double,
    T::Decimal { precision: 5, scale: 2 },
    T::Decimal { precision: 38, scale: 0 },
    T::Decimal { precision: 38, scale: 38 },
    T::Decimal { precision: 20, scale: 10 },
    T::String,
    T::Binary,
    T::Date,
    T::Timestamp,
    T::TimestampNtz,
    T::Integer,
];

/// A table of nullable columns `c0`, `c1`, ..., one for each of [`TYPES`].
pub fn schema() -> Schema {
    let field = |(index, data_type): (usize, &T)| Field {
        name: format!("c{index}"),
        data_type: DataType::Primitive(*data_type),
        nullable: true,
        metadata: BTreeMap::new(),
    };
    Schema { fields: TYPES.iter().enumerate().map(field).collect() }
}

/// A type.
pub fn types() -> impl Strategy<Value = T> {
    select(&TYPES[..])
}

/// A value of a type, once in six NULL; small ones, odd ones and the ends of the type.
pub fn value(data_type: T) -> BoxedStrategy<Value> {
    prop_oneof![1 => Just(Value::Null), 5 => present(data_type)].boxed()
}

/// A value of a type that is not NULL.
pub fn present(data_type: T) -> BoxedStrategy<Value> {
    let day = prop_oneof![3 => -3..4, 1 => select(vec![19_782, 19_753, 11_016, -719_528])];
    match data_type {
        T::Date => prop_oneof![6 => day, 1 => select(vec![i32::MIN, i32::MAX])].prop_map(Value::Date).boxed(),
        T::Timestamp => {
            prop_oneof![6 => instant(), 1 => select(vec![i64::MIN, i64::MAX])].prop_map(Value::Timestamp).boxed()
        }
        T::TimestampNtz => {
            prop_oneof![6 => instant(), 1 => select(vec![i64::MIN, i64::MAX])].prop_map(Value::TimestampNtz).boxed()
        }
        T::Float => float().prop_map(|x| Value::Float(x as f32)).boxed(),
        T::Double => float().prop_map(Value::Double).boxed(),
        T::Binary => text().prop_map(|text| Value::Binary(text.into_bytes())).boxed(),
        _ => sayable(data_type),
    }
}

/// A value that SQL text says exactly, by a literal or by a cast of a text.
pub fn sayable(data_type: T) -> BoxedStrategy<Value> {
    match data_type {
        T::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        T::Byte => integer(i8::MIN.into(), i8::MAX.into()).prop_map(|x| Value::Byte(x as i8)).boxed(),
        T::Short => integer(i16::MIN.into(), i16::MAX.into()).prop_map(|x| Value::Short(x as i16)).boxed(),
        T::Integer => integer(i32::MIN.into(), i32::MAX.into()).prop_map(|x| Value::Integer(x as i32)).boxed(),
        T::Long => integer(i64::MIN, i64::MAX).prop_map(Value::Long).boxed(),
        T::Float => (-40..40_i32).prop_map(|x| Value::Float(x as f32 / 4.0)).boxed(),
        T::Double => (-40..40_i32).prop_map(|x| Value::Double(f64::from(x) / 4.0)).boxed(),
        T::Decimal { precision, scale } => {
            let limit = 10_i128.pow(precision.into());
            let unscaled = prop_oneof![
                3 => (-9..10_i128).prop_map(move |x| x % limit),
                1 => any::<i128>().prop_map(move |x| x % limit),
                1 => select(vec![limit - 1, 1 - limit]),
            ];
            unscaled.prop_map(move |unscaled| Value::Decimal { unscaled, precision, scale }).boxed()
        }
        T::String => text().prop_map(Value::String).boxed(),
        T::Binary => text().prop_map(|text| Value::Binary(text.into_bytes())).boxed(),
        T::Date => (-3..20_000_i32).prop_map(Value::Date).boxed(),
        T::Timestamp => instant().prop_map(Value::Timestamp).boxed(),
        T::TimestampNtz => instant().prop_map(Value::TimestampNtz).boxed(),
    }
}

/// A row of [`schema`].
pub fn row() -> impl Strategy<Value = Vec<Value>> {
    TYPES.map(value).to_vec()
}

/// Up to so many rows of [`schema`].
pub fn rows(most: usize) -> impl Strategy<Value = Vec<Vec<Value>>> {
    prop::collection::vec(row(), 0..=most)
}

fn integer(min: i64, max: i64) -> impl Strategy<Value = i64> {
    prop_oneof![6 => -4..5_i64, 1 => min..=max, 1 => select(vec![min, max])]
}

fn float() -> impl Strategy<Value = f64> {
    let odd = vec![0.1, 1e300, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e10];
    prop_oneof![3 => (-8..9_i32).prop_map(|x| f64::from(x) / 4.0), 1 => select(odd)]
}

fn text() -> impl Strategy<Value = String> {
    const KNOWN: [&str; 14] =
        ["", "a", "A%", "_b", "ä\\", " x ", "1", "-0.5", "NaN", "true", "2024-02-29", "1e5", "it's", "a\nb"];
    prop_oneof![3 => select(&KNOWN[..]).prop_map(str::to_owned), 1 => "[a-c%_]{0,3}", 1 => "\\PC{0,40}"]
}

/// Microseconds, in years that every client reads.
fn instant() -> impl Strategy<Value = i64> {
    prop_oneof![3 => -3..4_i64, 1 => select(vec![1_700_000_000_123_456, 1_700_000_000_000_000, -62_000_000_000_000_001])]
}
