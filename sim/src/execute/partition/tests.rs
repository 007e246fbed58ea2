use log_core::{
    batch::{batch, rows},
    schema::{DataType, Field, PrimitiveType as T},
};

use super::*;

fn schema(types: &[(&str, T)]) -> Schema {
    let field = |(name, t): &(&str, T)| Field {
        name: (*name).to_owned(),
        data_type: DataType::Primitive(*t),
        nullable: true,
        metadata: Default::default(),
    };
    Schema { fields: types.iter().map(field).collect() }
}

fn values(pairs: &[(&str, Option<&str>)]) -> PartitionValues {
    pairs.iter().map(|(name, text)| ((*name).to_owned(), text.map(str::to_owned))).collect()
}

#[test]
fn rows_are_grouped_in_the_order_of_the_values() {
    let schema = schema(&[("x", T::Long), ("p", T::Integer), ("q", T::String)]);
    let row = |x, p: Option<i32>, q: &str| {
        vec![Value::Long(x), p.map_or(Value::Null, Value::Integer), Value::String(q.to_owned())]
    };
    let input =
        [row(1, Some(10), "b"), row(2, Some(9), "a"), row(3, Some(10), "b"), row(4, None, "a"), row(5, Some(9), "")];
    let batch = batch(&schema, &input).expect("a batch");
    let groups = split(&schema, &["P".to_owned(), "q".to_owned()], &batch).expect("groups");
    let found: Vec<_> = groups
        .into_iter()
        .map(|(values, batch)| {
            let ids: Vec<_> = rows(&batch, &schema).expect("rows").into_iter().map(|row| row[0].to_string()).collect();
            (values, ids.join(","))
        })
        .collect();
    // 9 before 10: by value, not by text. The empty text is NULL.
    let expected = [
        (values(&[("p", None), ("q", Some("a"))]), "4"),
        (values(&[("p", Some("9")), ("q", None)]), "5"),
        (values(&[("p", Some("9")), ("q", Some("a"))]), "2"),
        (values(&[("p", Some("10")), ("q", Some("b"))]), "1,3"),
    ];
    assert_eq!(found, expected.map(|(values, ids)| (values, ids.to_owned())));
}

#[test]
fn without_partition_columns_there_is_one_group() {
    let schema = schema(&[("x", T::Long)]);
    let two = batch(&schema, &[vec![Value::Long(1)], vec![Value::Null]]).expect("a batch");
    let groups = split(&schema, &[], &two).expect("groups");
    assert_eq!(groups, [(PartitionValues::new(), two.clone())]);
    assert_eq!(split(&schema, &[], &two.slice(0, 0)).expect("groups"), []);
    assert!(matches!(split(&schema, &["p".to_owned()], &two), Err(ExecuteError::NoColumn { .. })));
}

#[test]
fn directories_are_escaped() {
    let check = |pairs: &[(&str, Option<&str>)], expected: &str| {
        let columns: Vec<_> = pairs.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(directory(&values(pairs), &columns), expected);
    };
    check(&[], "");
    check(&[("p", Some("a b"))], "p=a%20b/");
    check(&[("q", Some("1")), ("a", None)], "q=1/a=__HIVE_DEFAULT_PARTITION__/");
    check(&[("p", Some("a/b=c%:ä"))], "p=a%2Fb%3Dc%25%3Aä/");
    check(&[("a/b", Some(""))], "a%2Fb=__HIVE_DEFAULT_PARTITION__/");
    check(&[("p", Some(".."))], "p=../");
}
