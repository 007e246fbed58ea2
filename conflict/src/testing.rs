//! Tables, commits and predicates in a few words, for tests.

use std::{collections::BTreeMap, sync::Arc};

use log_core::{
    action::{Action, AddFile, DomainMetadata, Metadata, Protocol, RemoveFile},
    commit::Commit,
    expression::{BinaryOperator, Expression},
    path::Version,
    schema::{DataType, Field, Schema},
    snapshot::Snapshot,
    value::parse_partition_value,
};

use crate::transaction::Winner;

/// A table of columns `"id long, p string"`, partitioned by `"p"`, after version 0 and a commit for every further text.
pub fn table(columns: &str, partitions: &str, log: &[&str]) -> Arc<Snapshot> {
    let fields = columns.split(", ").map(|column| {
        let (name, data_type) = column.split_once(' ').unwrap();
        let data_type = DataType::Primitive(data_type.parse().unwrap());
        Field { name: name.to_owned(), data_type, nullable: true, metadata: BTreeMap::new() }
    });
    let metadata = Metadata {
        id: "table".to_owned(),
        schema_string: Schema { fields: fields.collect() }.to_json(),
        partition_columns: partitions.split_whitespace().map(str::to_owned).collect(),
        ..Metadata::default()
    };
    let first = vec![Action::Protocol(Protocol::of_new_table()), Action::Metadata(metadata)];
    let rest = log.iter().map(|text| actions(text));
    let commits: Vec<Commit> = std::iter::once(first)
        .chain(rest)
        .enumerate()
        .map(|(version, actions)| Commit { version: Version(version as u64), actions })
        .collect();
    Arc::new(Snapshot::replay(None, &commits).unwrap())
}

/// The table of the reports without partitions: version 1 holds the files f1 and f2.
pub fn unpartitioned() -> Arc<Snapshot> {
    table("id long, v string", "", &["+f1 +f2"])
}

/// The table of the reports with partitions: version 1 holds f1 and f2 in partition a, and f9 in partition b.
pub fn partitioned() -> Arc<Snapshot> {
    table("id long, v string, p string", "p", &["+f1[p=a] +f2[p=a] +f9[p=b]"])
}

/// Actions: `+f[p=a,q=]` adds (an empty value is null), `-f` removes, `+~f` and `-~f` change no data; `+f*5@10/3` has five rows,
/// base row id 10 and default row commit version 3, each optional; `cdc`; `txn:app`; `domain:name`; `mark:9` is the domain of row tracking;
/// `protocol:1,7,appendOnly,invariants`; `metadata` (which no other is equal to); `info:WRITE:true:id` (its parts after the name are optional,
/// the second is any JSON, and `_` in the name is a space).
pub fn actions(text: &str) -> Vec<Action> {
    text.split_whitespace().map(action).collect()
}

fn action(word: &str) -> Action {
    let json = |text: String| Action::parse(&text).unwrap().unwrap();
    if let Some(file) = word.strip_prefix(['+', '-']) {
        let (data_change, file) = file.strip_prefix('~').map_or((true, file), |file| (false, file));
        let (path, values) = file.strip_suffix(']').and_then(|file| file.split_once('[')).unwrap_or((file, ""));
        let partition_values = values.split(',').filter(|value| !value.is_empty()).map(|value| {
            let (column, value) = value.split_once('=').unwrap();
            (column.to_owned(), Some(value.to_owned()).filter(|value| !value.is_empty()))
        });
        let partition_values = partition_values.collect();
        let (path, ids) = path.split_once('@').unwrap_or((path, "-/-"));
        let (base, version) = ids.split_once('/').unwrap();
        let (base_row_id, default_row_commit_version) = (base.parse().ok(), version.parse().ok());
        let (path, rows) = path.split_once('*').map_or((path, None), |(path, rows)| (path, Some(rows)));
        let (path, stats) = (path.to_owned(), rows.map(|rows| format!(r#"{{"numRecords":{rows}}}"#)));
        return match word.starts_with('+') {
            true => Action::Add(AddFile {
                path,
                partition_values,
                data_change,
                size: 1,
                stats,
                base_row_id,
                default_row_commit_version,
                ..AddFile::default()
            }),
            false => Action::Remove(RemoveFile {
                path,
                partition_values: Some(partition_values),
                data_change,
                ..RemoveFile::default()
            }),
        };
    }
    let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
    match kind {
        "cdc" => json(r#"{"cdc":{"path":"c","partitionValues":{},"size":1,"dataChange":false}}"#.to_owned()),
        "txn" => json(format!(r#"{{"txn":{{"appId":"{rest}","version":1}}}}"#)),
        "mark" => Action::DomainMetadata(DomainMetadata {
            domain: "delta.rowTracking".to_owned(),
            configuration: format!(r#"{{"rowIdHighWaterMark":{rest}}}"#),
            ..DomainMetadata::default()
        }),
        "domain" => json(format!(r#"{{"domainMetadata":{{"domain":"{rest}","configuration":"","removed":false}}}}"#)),
        "metadata" => {
            let schema_string = Schema::default().to_json();
            Action::Metadata(Metadata { id: "other".to_owned(), schema_string, ..Metadata::default() })
        }
        "protocol" => {
            let mut parts = rest.split(',');
            let mut version = || parts.next().unwrap().parse().unwrap();
            let (min_reader_version, min_writer_version) = (version(), version());
            let writer_features = (min_writer_version == 7).then(|| parts.map(str::to_owned).collect());
            Action::Protocol(Protocol {
                min_reader_version,
                min_writer_version,
                writer_features,
                ..Protocol::default()
            })
        }
        "info" => {
            let mut parts = rest.split(':');
            let mut fields = vec![format!(r#""operation":"{}""#, parts.next().unwrap().replace('_', " "))];
            fields.extend(parts.next().map(|blind| format!(r#""isBlindAppend":{blind}"#)));
            fields.extend(parts.next().map(|id| format!(r#""txnId":"{id}""#)));
            json(format!(r#"{{"commitInfo":{{{}}}}}"#, fields.join(",")))
        }
        _ => panic!("{word}"),
    }
}

/// A winner of version 2.
pub fn winner(text: &str) -> Winner {
    winner_at(2, text)
}

/// A winner of some version.
pub fn winner_at(version: u64, text: &str) -> Winner {
    Winner::new(Commit { version: Version(version), actions: actions(text) })
}

/// A predicate: comparisons of a column with a constant (`p=a`, `part>=3`; `p=` compares with NULL), joined by ` and ` and ` or `, of which AND
/// binds closer.
pub fn predicate(table: &Snapshot, text: &str) -> Expression {
    let join = |parts: Vec<Expression>, operator| {
        parts.into_iter().reduce(|left, right| Expression::binary(operator, left, right)).unwrap()
    };
    let conjunction =
        |text: &str| join(text.split(" and ").map(|part| comparison(table, part)).collect(), BinaryOperator::And);
    join(text.split(" or ").map(conjunction).collect(), BinaryOperator::Or)
}

fn comparison(table: &Snapshot, text: &str) -> Expression {
    if text == "true" {
        return Expression::truth();
    }
    let operators = [
        (">=", BinaryOperator::GreaterOrEqual),
        ("<=>", BinaryOperator::NullSafeEqual),
        ("<=", BinaryOperator::LessOrEqual),
        (">", BinaryOperator::Greater),
        ("<", BinaryOperator::Less),
        ("=", BinaryOperator::Equal),
    ];
    let (name, operator, value) = operators
        .into_iter()
        .find_map(|(sign, operator)| text.split_once(sign).map(|(name, value)| (name, operator, value)))
        .unwrap();
    let index = table.schema.index_of(name).unwrap();
    let data_type = table.schema.fields[index].data_type.primitive().unwrap();
    let value = parse_partition_value(Some(value), data_type).unwrap();
    let column = Expression::Column { index, name: name.to_owned(), data_type };
    Expression::binary(operator, column, Expression::Literal { value, data_type })
}
