//! Random trees on random rows.

use super::*;

/// xorshift64*, so that a failure is a seed.
pub(super) struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }

    fn one<X: Clone>(&mut self, of: &[X]) -> X {
        of[self.below(of.len())].clone()
    }
}

const TYPES: [T; 18] = [
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
    T::Decimal { precision: 38, scale: 10 },
    T::Decimal { precision: 20, scale: 10 },
    T::String,
    T::Binary,
    T::Date,
    T::Timestamp,
    T::TimestampNtz,
    T::Boolean,
];

fn integer(random: &mut Random) -> i64 {
    match random.below(6) {
        0 => i64::MIN,
        1 => i64::MAX,
        2 => random.next() as i64,
        3 => 0,
        _ => random.below(9) as i64 - 4,
    }
}

fn value(random: &mut Random, data_type: T) -> Value {
    if random.below(6) == 0 {
        return Value::Null;
    }
    let numbers = [0.0, -0.0, 1.0, -1.5, 0.1, 1e300, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e10];
    let texts = [
        "",
        "a",
        "A%",
        "_b",
        "ä\\",
        " x ",
        "1",
        "-0.5",
        "NaN",
        "true",
        "2024-02-29",
        "1e5",
        "a%",
        "2020-01-01 01:02:03",
    ];
    let small = |x: i64, min: i64, max: i64| x.clamp(min, max);
    match data_type {
        T::Boolean => Value::Boolean(random.below(2) == 0),
        T::Byte => Value::Byte(small(integer(random), -128, 127) as i8),
        T::Short => Value::Short(small(integer(random), -32768, 32767) as i16),
        T::Integer => Value::Integer(small(integer(random), i32::MIN.into(), i32::MAX.into()) as i32),
        T::Long => Value::Long(integer(random)),
        T::Float => Value::Float(random.one(&numbers) as f32),
        T::Double => Value::Double(random.one(&numbers)),
        T::Decimal { precision, scale } => {
            let limit = 10_i128.pow(precision.into());
            let unscaled = match random.below(4) {
                0 => limit - 1,
                1 => i128::from(random.next()) * i128::from(random.next() >> 1) % limit,
                _ => i128::from(integer(random)) % limit,
            };
            Value::Decimal { unscaled: if random.below(2) == 0 { unscaled } else { -unscaled }, precision, scale }
        }
        T::String => Value::String(random.one(&texts).to_owned()),
        T::Binary => Value::Binary(random.one(&texts).as_bytes().to_vec()),
        T::Date => Value::Date(random.one(&[0, -1, 19_782, 19_753, 11_016, i32::MAX, i32::MIN, -719_528])),
        T::Timestamp => Value::Timestamp(random.one(&[0, -1, 1_700_000_000_123_456, i64::MAX, i64::MIN])),
        T::TimestampNtz => Value::TimestampNtz(random.one(&[0, -1, 1_700_000_000_000_000, i64::MAX])),
    }
}

/// A tree of a type. The column of a type is any of those that have it.
fn tree(random: &mut Random, to: T, depth: usize) -> Expression {
    if depth == 0 || random.below(8) == 0 {
        return leaf(random, to);
    }
    let boxed = |random: &mut Random, to| Box::new(tree(random, to, depth - 1));
    match random.below(8) {
        0 => {
            let mut branches = Vec::new();
            for _ in 0..1 + random.below(2) {
                branches.push((tree(random, T::Boolean, depth - 1), tree(random, to, depth - 1)));
            }
            Expression::Case { branches, otherwise: boxed(random, to) }
        }
        1 => {
            let function = random.one(&[Function::Coalesce, Function::Greatest, Function::Least, Function::NullIf]);
            let count = if function == Function::NullIf { 2 } else { 1 + random.below(3) };
            let arguments = (0..count).map(|_| tree(random, to, depth - 1)).collect();
            Expression::Function { function, arguments }
        }
        2 | 3 => {
            let from = random.one(&TYPES);
            if from == to {
                return tree(random, to, depth - 1);
            }
            Expression::Cast { value: boxed(random, from), to, lenient: random.below(2) == 0 }
        }
        _ => of_type(random, to, depth),
    }
}

fn leaf(random: &mut Random, to: T) -> Expression {
    let columns: Vec<usize> = (0..TYPES.len()).filter(|i| TYPES[*i] == to).collect();
    if columns.is_empty() || random.below(3) == 0 {
        return Expression::Literal { value: value(random, to), data_type: to };
    }
    col(random.one(&columns), to)
}

fn of_type(random: &mut Random, to: T, depth: usize) -> Expression {
    let sub = |random: &mut Random, to| tree(random, to, depth - 1);
    let call = |function, arguments| Expression::Function { function, arguments };
    match to {
        T::Boolean => match random.below(8) {
            0 => Expression::Not(Box::new(sub(random, T::Boolean))),
            1 => {
                let of = random.one(&TYPES);
                Expression::IsNull(Box::new(sub(random, of)))
            }
            2 | 3 => {
                let operator = random.one(&[B::And, B::Or]);
                Expression::binary(operator, sub(random, T::Boolean), sub(random, T::Boolean))
            }
            4 => {
                let of = random.one(&TYPES);
                let list = (0..random.below(4)).map(|_| sub(random, of)).collect();
                Expression::In { value: Box::new(sub(random, of)), list }
            }
            5 => Expression::Like {
                value: Box::new(sub(random, T::String)),
                pattern: Box::new(sub(random, T::String)),
                escape: random.one(&['\\', '!', '%', 'a']),
                ignore_case: random.below(2) == 0,
            },
            _ => {
                let of = random.one(&TYPES);
                let operators =
                    [B::Equal, B::NotEqual, B::Less, B::LessOrEqual, B::Greater, B::GreaterOrEqual, B::NullSafeEqual];
                Expression::binary(random.one(&operators), sub(random, of), sub(random, of))
            }
        },
        T::String => match random.below(5) {
            0 => call(Function::Upper, vec![sub(random, T::String)]),
            1 => call(Function::Lower, vec![sub(random, T::String)]),
            2 => call(Function::Trim, vec![sub(random, T::String)]),
            3 => {
                let arguments = (0..1 + random.below(3)).map(|_| sub(random, T::String)).collect();
                call(Function::Concat, arguments)
            }
            _ => {
                let mut arguments = vec![sub(random, T::String), sub(random, T::Integer)];
                if random.below(2) == 0 {
                    arguments.push(sub(random, T::Integer));
                }
                call(Function::Substring, arguments)
            }
        },
        T::Date => {
            let function = random.one(&[Function::DateAdd, Function::AddMonths]);
            call(function, vec![sub(random, T::Date), sub(random, T::Integer)])
        }
        T::Timestamp | T::TimestampNtz => call(Function::AddMicroseconds, vec![sub(random, to), sub(random, T::Long)]),
        T::Binary => leaf(random, to),
        T::Integer if random.below(3) == 0 => match random.below(4) {
            0 => call(Function::Length, vec![sub(random, T::String)]),
            part => {
                let function = [Function::Year, Function::Month, Function::Day][part - 1];
                call(function, vec![sub(random, T::Date)])
            }
        },
        _ => match random.below(5) {
            0 => Expression::Negate(Box::new(sub(random, to))),
            1 => call(Function::Abs, vec![sub(random, to)]),
            _ => arithmetic(random, to, depth),
        },
    }
}

fn arithmetic(random: &mut Random, to: T, depth: usize) -> Expression {
    let mut operators = vec![B::Add, B::Subtract, B::Multiply, B::Remainder];
    if matches!(to, T::Float | T::Double | T::Decimal { .. }) {
        operators.push(B::Divide);
    }
    if to == T::Long {
        operators.push(B::IntegerDivide);
    }
    let operator = random.one(&operators);
    let decimals = [TYPES[7], TYPES[8], TYPES[9], TYPES[10], TYPES[11]];
    let (left, right) = match to {
        T::Decimal { .. } => (random.one(&decimals), random.one(&decimals)),
        T::Long if operator == B::IntegerDivide && random.below(2) == 0 => {
            (random.one(&decimals), random.one(&decimals))
        }
        _ => (to, to),
    };
    let result = Expression::binary(operator, tree(random, left, depth - 1), tree(random, right, depth - 1));
    result.cast_to(to)
}

/// Runs many trees from a seed; how many of them had values.
fn run(seed: u64, trees: usize) -> usize {
    println!("seed {seed}");
    let schema = schema(&TYPES);
    let mut random = Random(seed);
    let mut succeeded = 0;
    for _ in 0..trees {
        let to = random.one(&TYPES);
        let depth = 1 + random.below(4);
        let expression = tree(&mut random, to, depth);
        let rows: Vec<Vec<Value>> =
            (0..random.below(6)).map(|_| TYPES.iter().map(|t| value(&mut random, *t)).collect()).collect();
        succeeded += usize::from(agree(&expression, &schema, &rows));
    }
    succeeded
}

#[test]
fn kernels_agree_with_single_values_on_random_trees() {
    let succeeded = run(0x5eed, 3000);
    // A test in which nearly all trees fail would compare little.
    assert!((600..2950).contains(&succeeded), "{succeeded} of 3000 trees have values");
}

/// `cargo test -p sim --lib many_seeds -- --ignored --nocapture`
#[test]
#[ignore = "minutes; for changes to the evaluators"]
fn many_seeds() {
    for seed in 1..500 {
        run(seed, 2000);
    }
}
