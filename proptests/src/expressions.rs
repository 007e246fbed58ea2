//! Typed trees over the columns of [`values::schema`].

use log_core::{
    expression::{BinaryOperator as B, Expression, Function},
    schema::PrimitiveType as T,
};
use proptest::{collection::vec, prelude::*, sample::select, strategy::Union};

use crate::values::{self, TYPES};

/// Trees of every type, this deep at most.
///
/// A level is built out of the one below it, each type once, so that a deep tree costs no more to draw than its nodes.
pub fn expressions(depth: u32) -> BoxedStrategy<Expression> {
    let level = level(depth, false);
    Union::new(level).boxed()
}

/// Trees of type boolean.
pub fn predicates(depth: u32) -> BoxedStrategy<Expression> {
    of(&level(depth, false), T::Boolean)
}

/// Predicates that SQL text can say: what a `WHERE` of this depth can come to. They lack the one function without a name, casts that a parser computes, and
/// values without a literal.
pub fn sayable_predicates(depth: u32) -> BoxedStrategy<Expression> {
    of(&level(depth, true), T::Boolean)
}

/// What a `WHERE` mostly looks like: comparisons of columns with constants, IN and IS NULL, under AND, OR and NOT.
pub fn filters(depth: u32) -> BoxedStrategy<Expression> {
    let compared = select((0..TYPES.len()).collect::<Vec<_>>()).prop_flat_map(|index| {
        let data_type = TYPES[index];
        let literal = move || values::value(data_type).prop_map(move |value| Expression::Literal { value, data_type });
        let column = move || column(index);
        prop_oneof![
            4 => (select(&COMPARISONS[..]), literal(), any::<bool>()).prop_map(move |(operator, literal, turned)| {
                if turned { Expression::binary(operator, literal, column()) } else { Expression::binary(operator, column(), literal) }
            }),
            1 => vec(literal(), 0..3).prop_map(move |list| Expression::In { value: Box::new(column()), list }),
            1 => any::<bool>().prop_map(move |not| {
                let is_null = Expression::IsNull(Box::new(column()));
                if not { Expression::Not(Box::new(is_null)) } else { is_null }
            }),
        ]
    });
    let mut tree = compared.boxed();
    for _ in 0..depth {
        tree = prop_oneof![
            2 => tree.clone(),
            3 => (select(vec![B::And, B::Or]), tree.clone(), tree.clone())
                .prop_map(|(operator, left, right)| Expression::binary(operator, left, right)),
            1 => tree.prop_map(|inner| Expression::Not(Box::new(inner))),
        ]
        .boxed();
    }
    tree
}

const COMPARISONS: [B; 7] =
    [B::Equal, B::NotEqual, B::Less, B::LessOrEqual, B::Greater, B::GreaterOrEqual, B::NullSafeEqual];

/// A column of [`values::schema`].
pub fn column(index: usize) -> Expression {
    Expression::Column { index, name: format!("c{index}"), data_type: TYPES[index] }
}

/// For each of [`TYPES`] the trees of that type.
type Level = Vec<BoxedStrategy<Expression>>;

fn of(level: &Level, data_type: T) -> BoxedStrategy<Expression> {
    level[TYPES.iter().position(|each| *each == data_type).expect("one of the types")].clone()
}

fn level(depth: u32, sayable: bool) -> Level {
    let mut level: Level = TYPES.iter().map(|data_type| leaf(*data_type, sayable)).collect();
    for _ in 0..depth {
        level = TYPES.iter().map(|data_type| above(*data_type, &level, sayable)).collect();
    }
    level
}

fn leaf(data_type: T, sayable: bool) -> BoxedStrategy<Expression> {
    let columns: Vec<usize> = (0..TYPES.len()).filter(|index| TYPES[*index] == data_type).collect();
    let value = if sayable { values::sayable(data_type) } else { values::value(data_type) };
    let literal = value.prop_map(move |value| Expression::Literal { value, data_type });
    prop_oneof![2 => select(columns).prop_map(column), 1 => literal].boxed()
}

fn call(function: Function, arguments: impl Strategy<Value = Vec<Expression>> + 'static) -> BoxedStrategy<Expression> {
    arguments.prop_map(move |arguments| Expression::Function { function, arguments }).boxed()
}

/// Trees of a type over trees of the level below.
fn above(to: T, below: &Level, sayable: bool) -> BoxedStrategy<Expression> {
    let same = || of(below, to);
    let any_type = || select(below.clone());
    let mut choices = vec![
        (2, same()),
        (1, leaf(to, sayable)),
        (1, {
            let branches = vec((of(below, T::Boolean), same()), 1..3);
            (branches, same())
                .prop_map(|(branches, otherwise)| Expression::Case { branches, otherwise: Box::new(otherwise) })
                .boxed()
        }),
        (1, call(Function::Coalesce, vec(same(), 1..4))),
        (1, call(Function::Greatest, vec(same(), 2..4))),
        (1, call(Function::Least, vec(same(), 2..4))),
        (1, call(Function::NullIf, vec(same(), 2..=2))),
    ];
    if !sayable {
        let cast = (any_type().prop_flat_map(|trees| trees), any::<bool>());
        let cast = cast.prop_map(move |(value, lenient)| match value.data_type() == to {
            true => value,
            false => Expression::Cast { value: Box::new(value), to, lenient },
        });
        choices.push((3, cast.boxed()));
    }
    choices.extend(of_type(to, below, sayable).into_iter().map(|tree| (3, tree)));
    Union::new_weighted(choices).boxed()
}

/// What only some types have.
fn of_type(to: T, below: &Level, sayable: bool) -> Vec<BoxedStrategy<Expression>> {
    let on = |data_type| of(below, data_type);
    match to {
        T::Boolean => {
            let pairs = select(below.clone()).prop_flat_map(|trees| (trees.clone(), trees));
            let lists = select(below.clone()).prop_flat_map(|trees| (trees.clone(), vec(trees, 1..4)));
            let truths = (select(vec![B::And, B::Or]), on(T::Boolean), on(T::Boolean));
            let like = (on(T::String), on(T::String), select(vec!['\\', '!', '%', 'a']), any::<bool>());
            vec![
                on(T::Boolean).prop_map(|inner| Expression::Not(Box::new(inner))).boxed(),
                select(below.clone())
                    .prop_flat_map(|trees| trees)
                    .prop_map(|inner| Expression::IsNull(Box::new(inner)))
                    .boxed(),
                truths.prop_map(|(operator, left, right)| Expression::binary(operator, left, right)).boxed(),
                (select(&COMPARISONS[..]), pairs)
                    .prop_map(|(operator, (left, right))| Expression::binary(operator, left, right))
                    .boxed(),
                lists.prop_map(|(value, list)| Expression::In { value: Box::new(value), list }).boxed(),
                like.prop_map(|(value, pattern, escape, ignore_case)| Expression::Like {
                    value: Box::new(value),
                    pattern: Box::new(pattern),
                    escape,
                    ignore_case,
                })
                .boxed(),
            ]
        }
        T::String => vec![
            call(Function::Upper, vec(on(T::String), 1..=1)),
            call(Function::Lower, vec(on(T::String), 1..=1)),
            call(Function::Trim, vec(on(T::String), 1..=1)),
            call(Function::Concat, vec(on(T::String), 1..4)),
            call(
                Function::Substring,
                (on(T::String), on(T::Integer), proptest::option::of(on(T::Integer)))
                    .prop_map(|(text, start, length)| [text, start].into_iter().chain(length).collect()),
            ),
        ],
        T::Date => [Function::DateAdd, Function::AddMonths]
            .map(|function| call(function, (on(T::Date), on(T::Integer)).prop_map(|(date, by)| vec![date, by])))
            .to_vec(),
        T::Timestamp | T::TimestampNtz if !sayable => {
            vec![call(Function::AddMicroseconds, (on(to), on(T::Long)).prop_map(|(time, by)| vec![time, by]))]
        }
        T::Timestamp | T::TimestampNtz | T::Binary => Vec::new(),
        _ => numbers(to, below),
    }
}

fn numbers(to: T, below: &Level) -> Vec<BoxedStrategy<Expression>> {
    let on = |data_type| of(below, data_type);
    let mut trees = vec![
        on(to).prop_map(|inner| Expression::Negate(Box::new(inner))).boxed(),
        call(Function::Abs, vec(on(to), 1..=1)),
    ];
    let mut arithmetic = |operators: Vec<B>, left: T, right: T| {
        let tree = (select(operators), on(left), on(right));
        let tree = tree.prop_map(move |(operator, left, right)| Expression::binary(operator, left, right).cast_to(to));
        trees.push(tree.boxed());
    };
    let same = vec![B::Add, B::Subtract, B::Multiply, B::Remainder];
    match to {
        T::Decimal { .. } => {
            let decimals = TYPES.iter().copied().filter(|each| matches!(each, T::Decimal { .. }));
            let operators = [same, vec![B::Divide]].concat();
            for right in decimals {
                arithmetic(operators.clone(), to, right);
            }
        }
        T::Float | T::Double => arithmetic([same, vec![B::Divide]].concat(), to, to),
        T::Long => arithmetic([same, vec![B::IntegerDivide]].concat(), to, to),
        _ => arithmetic(same, to, to),
    }
    if to == T::Integer {
        trees.push(call(Function::Length, vec(on(T::String), 1..=1)));
        for function in [Function::Year, Function::Month, Function::Day] {
            trees.push(call(function, vec(on(T::Date), 1..=1)));
        }
    }
    trees
}
