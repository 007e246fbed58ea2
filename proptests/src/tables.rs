//! Logs that make up a table.

use std::collections::BTreeMap;

use log_core::{
    action::{Action, AddFile, CommitInfo, DomainMetadata, Metadata, Protocol, SetTransaction},
    commit::Commit,
    deletion_vector::DeletionVector,
    path::{Version, commit_path},
    schema::{DataType, Field, PrimitiveType, Schema},
    store::{ObjectMap, Request},
};
use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::json;

/// What a commit may do.
#[derive(Clone, Debug)]
enum Change {
    /// A new file.
    Add,
    /// One of the files leaves.
    Remove(Index),
    /// One of the files gets another deletion vector.
    Mark(Index),
    /// A file that has left comes back.
    Return(Index),
    /// An application's progress.
    Progress(u8, i64),
    /// A domain, or its end.
    Domain(u8, bool),
    /// A property.
    Property(u8, u8),
    /// An action that nobody knows.
    Unknown,
}

/// Logs of up to so many commits, of versions 0, 1, ... Every file that a commit removes is live before it, and no commit adds a live one.
pub fn logs(most: usize) -> impl Strategy<Value = Vec<Commit>> {
    let change = prop_oneof![
        4 => Just(Change::Add),
        3 => any::<Index>().prop_map(Change::Remove),
        2 => any::<Index>().prop_map(Change::Mark),
        1 => any::<Index>().prop_map(Change::Return),
        1 => (0..3_u8, any::<i64>()).prop_map(|(app, version)| Change::Progress(app, version)),
        1 => (0..3_u8, any::<bool>()).prop_map(|(domain, removed)| Change::Domain(domain, removed)),
        1 => (0..3_u8, any::<u8>()).prop_map(|(key, value)| Change::Property(key, value)),
        1 => Just(Change::Unknown),
    ];
    vec(vec(change, 0..5), 0..most).prop_map(|commits| log(&commits))
}

/// The objects of a log.
pub fn objects(log: &[Commit]) -> ObjectMap {
    let mut objects = ObjectMap::default();
    for commit in log {
        let bytes = Commit::serialise(&commit.actions).into();
        objects.answer(&Request::PutIfAbsent { path: commit_path(commit.version), bytes }, 0);
    }
    objects
}

/// The first commit of a table with columns of these names and types.
pub fn create(columns: &[(&str, PrimitiveType)], partition_columns: &[&str]) -> Commit {
    let field = |(name, data_type): &(&str, PrimitiveType)| Field {
        name: (*name).to_owned(),
        data_type: DataType::Primitive(*data_type),
        nullable: true,
        metadata: BTreeMap::new(),
    };
    let schema = Schema { fields: columns.iter().map(field).collect() };
    let metadata = Metadata {
        id: "7f5a3c00-0000-8000-8000-000000000000".to_owned(),
        schema_string: schema.to_json(),
        partition_columns: partition_columns.iter().map(|name| (*name).to_owned()).collect(),
        ..Metadata::default()
    };
    let actions = vec![Action::Protocol(Protocol::of_new_table()), Action::Metadata(metadata)];
    Commit { version: Version(0), actions }
}

fn log(commits: &[Vec<Change>]) -> Vec<Commit> {
    let first = create(&[("x", PrimitiveType::Integer), ("p", PrimitiveType::String)], &["p"]);
    let Some(Action::Metadata(mut metadata)) = first.actions.last().cloned() else { unreachable!("it was put there") };
    let (mut live, mut gone): (Vec<AddFile>, Vec<AddFile>) = Default::default();
    let mut log = vec![first];
    let mut made = 0;
    for changes in commits {
        let version = Version(log.len() as u64);
        let mut actions = vec![Action::CommitInfo(CommitInfo(
            [("txnId".to_owned(), json!(version.to_string()))].into_iter().collect(),
        ))];
        // A file is touched once in a commit.
        let mut touched: Vec<String> = Vec::new();
        for change in changes {
            match change {
                Change::Add => {
                    made += 1;
                    let partition = (made % 3 > 0).then(|| (made % 3).to_string());
                    let add = AddFile {
                        path: format!("f{made}"),
                        partition_values: [("p".to_owned(), partition)].into(),
                        size: made,
                        data_change: true,
                        ..AddFile::default()
                    };
                    touched.push(add.path.clone());
                    actions.push(Action::Add(add.clone()));
                    live.push(add);
                }
                Change::Remove(index) | Change::Mark(index) => {
                    let candidates: Vec<usize> =
                        (0..live.len()).filter(|i| !touched.contains(&live[*i].path)).collect();
                    if candidates.is_empty() {
                        continue;
                    }
                    let add = live.remove(*index.get(&candidates));
                    touched.push(add.path.clone());
                    actions.push(Action::Remove(add.to_remove(0, true)));
                    if let Change::Mark(_) = change {
                        let vector = DeletionVector {
                            storage_type: "u".to_owned(),
                            path_or_inline_dv: version.to_string(),
                            offset: version.0.is_multiple_of(2).then_some(1),
                            ..DeletionVector::default()
                        };
                        let marked = AddFile { deletion_vector: Some(vector), ..add };
                        actions.push(Action::Add(marked.clone()));
                        live.push(marked);
                    } else {
                        gone.push(add);
                    }
                }
                Change::Return(index) => {
                    let candidates: Vec<usize> =
                        (0..gone.len()).filter(|i| !touched.contains(&gone[*i].path)).collect();
                    if candidates.is_empty() {
                        continue;
                    }
                    let add = gone.remove(*index.get(&candidates));
                    touched.push(add.path.clone());
                    actions.push(Action::Add(add.clone()));
                    live.push(add);
                }
                Change::Progress(app, version) => {
                    let progress =
                        SetTransaction { app_id: app.to_string(), version: *version, ..SetTransaction::default() };
                    actions.push(Action::Transaction(progress));
                }
                Change::Domain(domain, removed) => actions.push(Action::DomainMetadata(DomainMetadata {
                    domain: domain.to_string(),
                    configuration: version.to_string(),
                    removed: *removed,
                    ..DomainMetadata::default()
                })),
                Change::Property(key, value) => {
                    metadata.configuration.insert(format!("key{key}"), value.to_string());
                    actions.push(Action::Metadata(metadata.clone()));
                }
                Change::Unknown => {
                    actions
                        .push(Action::Unknown { name: "neverHeardOfIt".to_owned(), body: json!({ "at": version.0 }) });
                }
            }
        }
        log.push(Commit { version, actions });
    }
    log
}
