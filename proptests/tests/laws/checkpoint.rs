//! A table is the same table, read from its commits, from a checkpoint and what came after it, or through a compaction.

use std::{cell::Cell, collections::BTreeMap, num::NonZeroUsize, sync::Arc};

use conflict::{
    isolation::IsolationLevel,
    predicate::may_match,
    rules::RuleSet,
    transaction::{Operation, ReadSet, Transaction, Winner},
};
use log_core::{
    action::{Action, AddFile, Extra, FileKey, Protocol, RemoveFile},
    batch::batch,
    checkpoint::{CheckpointId, CheckpointKind, Retention, V2_FEATURE},
    commit::Commit,
    expression::{BinaryOperator as B, Expression},
    load::LoadSnapshot,
    path::{Version, commit_path},
    schema::PrimitiveType as T,
    snapshot::Snapshot,
    statistics::Statistics,
    store::{ObjectMap, Request, Response, drive},
    value::{Value, parse_partition_value, partition_text},
    write_checkpoint::WriteCheckpoint,
};
use proptest::{collection::vec, prelude::*, sample::subsequence};
use proptests::{
    actions, check,
    expressions::{filters, predicates},
    tables,
    values::{self, TYPES, schema},
};

const STATS_AS_JSON: &str = "delta.checkpoint.writeStatsAsJson";
const STATS_AS_STRUCT: &str = "delta.checkpoint.writeStatsAsStruct";

fn kinds() -> impl Strategy<Value = CheckpointKind> {
    prop_oneof![
        Just(CheckpointKind::Classic),
        prop::option::of(1..4_usize).prop_map(|most| CheckpointKind::V2 {
            id: CheckpointId(7),
            actions_per_sidecar: most.and_then(NonZeroUsize::new),
        }),
    ]
}

/// The log with the feature that v2 checkpoints need.
fn with_feature(mut log: Vec<Commit>) -> Vec<Commit> {
    for action in &mut log[0].actions {
        if let Action::Protocol(protocol) = action {
            *protocol = protocol.with_feature(V2_FEATURE);
        }
    }
    log
}

fn load(objects: &ObjectMap, version: Option<u64>) -> Snapshot {
    let machine = version.map_or_else(LoadSnapshot::latest, |version| LoadSnapshot::at(Version(version)));
    let mut objects = objects.clone();
    let answer = |request: Request| Response { now_ms: 0, answer: objects.answer(&request, 0) };
    let snapshot = drive(machine.with_tombstones().hinted(), answer).expect("the log is whole").expect("a table");
    // What checkpoints leave out: whether a file brought anything new is of the commit, not of the state.
    let mut snapshot = Snapshot::clone(&snapshot);
    for add in Arc::make_mut(&mut snapshot.files).values_mut() {
        Arc::make_mut(add).data_change = false;
    }
    for remove in Arc::make_mut(snapshot.tombstones.as_mut().expect("they were asked for")).values_mut() {
        let remove = Arc::make_mut(remove);
        (remove.stats, remove.tags) = (None, None);
    }
    snapshot
}

/// Writes a checkpoint at a time.
fn checkpoint(objects: &mut ObjectMap, version: Option<u64>, kind: CheckpointKind, now_ms: i64) {
    let answer = |request: Request| Response { now_ms, answer: objects.answer(&request, 0) };
    let written = drive(WriteCheckpoint::new(version.map(Version), kind), answer);
    written.expect("it can be written").expect("there is a table");
}

fn delete_commits(objects: &mut ObjectMap, versions: impl IntoIterator<Item = u64>) {
    for version in versions {
        objects.answer(&Request::Delete { path: commit_path(Version(version)) }, 0);
    }
}

#[test]
fn from_a_checkpoint_and_what_came_after_it_every_version_is_as_from_the_commits() {
    let tombstones = Cell::new(0);
    check(120, (tables::logs(10), any::<prop::sample::Index>(), kinds()), |(log, at, kind)| {
        let log = with_feature(log);
        let commits = tables::objects(&log);
        let at = at.index(log.len()) as u64;
        let mut objects = commits.clone();
        checkpoint(&mut objects, Some(at), kind, 0);
        // The checkpoint has to do without the commits that it stands for.
        delete_commits(&mut objects, 0..=at);
        for version in at..log.len() as u64 {
            let expected = load(&commits, Some(version));
            tombstones.set(tombstones.get() + expected.tombstones.as_ref().map_or(0, |tombstones| tombstones.len()));
            prop_assert_eq!(load(&objects, Some(version)), expected, "version {}", version);
        }
        // And a checkpoint that is made of a checkpoint.
        let newest = log.len() as u64 - 1;
        checkpoint(&mut objects, None, CheckpointKind::Classic, 0);
        delete_commits(&mut objects, 0..=newest);
        prop_assert_eq!(load(&objects, None), load(&commits, None));
        Ok(())
    });
    assert!(tombstones.get() > 100, "{tombstones:?}");
}

/// The actions of some commits, without those that later ones cancel out ("Action Reconciliation" of the protocol).
fn compaction(commits: &[Commit]) -> Vec<Action> {
    let mut files: BTreeMap<FileKey, Action> = BTreeMap::new();
    let mut others: BTreeMap<String, Action> = BTreeMap::new();
    for commit in commits {
        for action in &commit.actions {
            match action {
                Action::Remove(remove) => files.insert(remove.key(), action.clone()),
                Action::Add(add) => files.insert(add.key(), action.clone()),
                Action::Transaction(one) => others.insert(format!("txn {}", one.app_id), action.clone()),
                Action::DomainMetadata(one) => others.insert(format!("domain {}", one.domain), action.clone()),
                Action::Metadata(_) | Action::Protocol(_) => others.insert(action.name().to_owned(), action.clone()),
                Action::CommitInfo(_) | Action::Unknown { .. } => None,
            };
        }
    }
    others.into_values().chain(files.into_values()).collect()
}

#[test]
fn through_a_compaction_every_version_is_as_from_the_commits() {
    let compacted = Cell::new(0);
    check(120, (tables::logs(10), any::<prop::sample::Index>(), any::<prop::sample::Index>()), |(log, first, last)| {
        let (first, last) = (first.index(log.len()), last.index(log.len()));
        if first >= last {
            return Ok(());
        }
        compacted.set(compacted.get() + 1);
        let commits = tables::objects(&log);
        let mut objects = commits.clone();
        let path = format!("_delta_log/{first:020}.{last:020}.compacted.json");
        let bytes = Commit::serialise(&compaction(&log[first..=last])).into();
        objects.answer(&Request::Put { path, bytes }, 0);
        // The last one says that its version was made.
        delete_commits(&mut objects, first as u64..last as u64);
        for version in last..log.len() {
            prop_assert_eq!(load(&objects, Some(version as u64)), load(&commits, Some(version as u64)));
        }
        Ok(())
    });
    assert!(compacted.get() > 30, "{compacted:?}");
}

/// What a checkpoint has columns for.
fn kept(mut add: AddFile) -> AddFile {
    (add.data_change, add.extra) = (false, Extra::new());
    if let Some(vector) = &mut add.deletion_vector {
        vector.extra.clear();
    }
    add
}

fn kept_remove(mut remove: RemoveFile) -> RemoveFile {
    (remove.stats, remove.tags, remove.extra) = (None, None, Extra::new());
    if let Some(vector) = &mut remove.deletion_vector {
        vector.extra.clear();
    }
    remove
}

#[test]
fn what_a_checkpoint_has_columns_for_is_read_as_it_was_written() {
    let files = (vec(actions::remove(), 0..6), vec(actions::add(), 0..6), kinds(), any::<i64>());
    let (expired, left) = (Cell::new(0), Cell::new(0));
    check(300, files, |(removes, adds, kind, now_ms)| {
        let first = tables::create(&[("x", T::Integer)], &[]);
        let removes = Commit { version: Version(1), actions: removes.into_iter().map(Action::Remove).collect() };
        let adds = Commit { version: Version(2), actions: adds.into_iter().map(Action::Add).collect() };
        let log = with_feature(vec![first, removes, adds]);
        let mut objects = tables::objects(&log);
        let mut expected = load(&objects, None);
        for add in Arc::make_mut(&mut expected.files).values_mut() {
            *add = Arc::new(kept(AddFile::clone(add)));
        }
        let retention = Retention::of(&expected, now_ms).expect("no property is set");
        let tombstones = Arc::make_mut(expected.tombstones.as_mut().expect("they were asked for"));
        let before = tombstones.len();
        tombstones.retain(|_, remove| retention.keeps_tombstone(remove));
        for remove in tombstones.values_mut() {
            *remove = Arc::new(kept_remove(RemoveFile::clone(remove)));
        }
        left.set(left.get() + tombstones.len());
        expired.set(expired.get() + before - tombstones.len());
        checkpoint(&mut objects, None, kind, now_ms);
        delete_commits(&mut objects, 0..=2);
        prop_assert_eq!(load(&objects, None), expected);
        Ok(())
    });
    assert!(expired.get() > 50 && left.get() > 50, "{expired:?} expired, {left:?} left");
}

/// Reads of a table with the columns `x INT, p STRING`.
fn reads() -> impl Strategy<Value = ReadSet> {
    let column = |index: usize, name: &str, data_type| Expression::Column { index, name: name.to_owned(), data_type };
    let predicate = prop_oneof![
        (0..3_u8).prop_map(move |p| {
            let literal = Expression::Literal { value: Value::String(p.to_string()), data_type: T::String };
            Expression::binary(B::Equal, column(1, "p", T::String), literal)
        }),
        Just(Expression::IsNull(Box::new(column(1, "p", T::String)))),
        Just(Expression::IsNull(Box::new(column(0, "x", T::Integer)))),
    ];
    let files = (0..12_u8).prop_map(|file| format!("f{file}"));
    let apps = (0..3_u8).prop_map(|app| app.to_string());
    (prop::bool::weighted(0.1), vec(predicate, 0..3), vec(files, 0..4), vec(apps, 0..2)).prop_map(
        |(whole_table, predicates, files, apps)| ReadSet {
            whole_table,
            predicates,
            files: files.into_iter().collect(),
            app_ids: apps.into_iter().collect(),
        },
    )
}

#[test]
fn a_verdict_does_not_depend_on_where_the_snapshot_was_read_from() {
    let (conflicts, passed) = (Cell::new(0), Cell::new(0));
    let rules = RuleSet::delta_spark();
    check(200, (tables::logs(10), any::<prop::sample::Index>(), reads(), kinds()), |(log, at, reads, kind)| {
        let log = with_feature(log);
        if log.len() < 2 {
            return Ok(());
        }
        let at = at.index(log.len() - 1) as u64;
        let commits = tables::objects(&log);
        let mut objects = commits.clone();
        checkpoint(&mut objects, Some(at), kind, 0);
        delete_commits(&mut objects, 0..=at);
        let transaction = |objects: &ObjectMap| {
            let read = load(objects, Some(at));
            let removes = read.adds().filter(|add| reads.files.contains(&add.path));
            let actions = removes.map(|add| Action::Remove(add.to_remove(0, true))).collect();
            let operation = Operation { name: "DELETE".to_owned(), ..Operation::default() };
            let level = IsolationLevel::Serializable;
            Transaction::new(Some(Arc::new(read)), reads.clone(), operation, actions, level, "own".to_owned())
        };
        let (from_commits, from_checkpoint) = (transaction(&commits), transaction(&objects));
        for commit in &log[at as usize + 1..] {
            let winner = Winner::new(commit.clone());
            let verdict = rules.check(&from_commits, &winner);
            prop_assert_eq!(&rules.check(&from_checkpoint, &winner), &verdict);
            let counter = if verdict.is_some() { &conflicts } else { &passed };
            counter.set(counter.get() + 1);
        }
        Ok(())
    });
    assert!(conflicts.get() > 50 && passed.get() > 50, "{conflicts:?} conflicts, {passed:?} passed");
}

/// Where statistics and partition values are written.
const FORMS: [[&str; 2]; 3] = [["true", "false"], ["true", "true"], ["false", "true"]];

#[test]
fn a_file_that_is_left_out_by_a_checkpoints_statistics_has_no_row_that_is_meant() {
    let fit = (0..TYPES.len()).filter(|index| TYPES[*index] != T::Binary);
    let partitioning = subsequence(fit.collect::<Vec<_>>(), 0..4);
    let predicate = prop_oneof![3 => filters(2), 1 => predicates(2)];
    let (left_out, meant) = (Cell::new(0), Cell::new(0));
    check(400, (predicate, partitioning, values::row(), 0..3_usize), |(predicate, partitioning, mut row, form)| {
        let mut partition_values = BTreeMap::new();
        for index in &partitioning {
            let text = partition_text(&row[*index]);
            // A value that the log cannot say.
            let Ok(value) = parse_partition_value(text.as_deref(), TYPES[*index]) else { return Ok(()) };
            row[*index] = value;
            partition_values.insert(format!("c{index}"), text);
        }
        let names: Vec<String> = (0..TYPES.len()).map(|index| format!("c{index}")).collect();
        let columns: Vec<_> = names.iter().map(String::as_str).zip(TYPES).collect();
        let by: Vec<&str> = partitioning.iter().map(|index| names[*index].as_str()).collect();
        let mut first = tables::create(&columns, &by);
        for action in &mut first.actions {
            if let Action::Metadata(metadata) = action {
                let properties = [STATS_AS_JSON, STATS_AS_STRUCT].into_iter().zip(FORMS[form]);
                metadata.configuration.extend(properties.map(|(key, value)| (key.to_owned(), value.to_owned())));
            }
        }
        let by: Vec<String> = by.into_iter().map(str::to_owned).collect();
        let rows = batch(&schema(), std::slice::from_ref(&row)).expect("a row of the schema");
        let stats = Statistics::collect(&schema(), &by, &rows).expect("statistics").to_json();
        first.actions.push(Action::Add(AddFile {
            path: "f".to_owned(),
            partition_values,
            stats: Some(stats),
            ..AddFile::default()
        }));
        let mut objects = tables::objects(&[first]);
        checkpoint(&mut objects, None, CheckpointKind::Classic, 0);
        delete_commits(&mut objects, [0]);
        let snapshot = load(&objects, None);
        let add = snapshot.adds().next().expect("it is live");
        let matches = predicate.matches(&row).unwrap_or(false);
        meant.set(meant.get() + usize::from(matches));
        let statistics = Statistics::parse(add.stats.as_deref().expect("it has statistics"), &snapshot.schema);
        let fixed = |index: usize| partitioning.contains(&index).then(|| row[index].clone());
        if !statistics.may_match(&predicate, &snapshot.schema, &fixed) || !may_match(&predicate, &snapshot, add) {
            left_out.set(left_out.get() + 1);
            prop_assert!(!matches, "{} with {:?}", predicate, add);
        }
        Ok(())
    });
    assert!(left_out.get() > 50 && meant.get() > 50, "{left_out:?} were left out, {meant:?} rows were meant");
}

/// Report 39.
#[test]
fn a_partition_filter_finds_the_same_files_with_and_without_a_checkpoint() {
    let p = || Box::new(Expression::Column { index: 0, name: "p".to_owned(), data_type: T::String });
    let text = |text: &str| Expression::Literal { value: Value::String(text.to_owned()), data_type: T::String };
    let in_list = |items: [&str; 2]| Expression::In { value: p(), list: items.map(text).to_vec() };
    let is_null = Expression::IsNull(p());
    let filters = [
        Expression::binary(B::Equal, *p(), text("x")),
        Expression::binary(B::NotEqual, *p(), text("x")),
        in_list(["x", "y"]),
        Expression::Not(Box::new(in_list(["x", "z"]))),
        is_null.clone(),
        Expression::Not(Box::new(is_null)),
    ];
    // Every tenth file is of y, one has no partition.
    let partition = |i: u64| match i {
        77 | 177 => None,
        i if i.is_multiple_of(10) => Some("y"),
        _ => Some("x"),
    };
    for form in FORMS.into_iter().chain([["false", "false"]]) {
        let mut first = tables::create(&[("p", T::String), ("a", T::Integer)], &["p"]);
        for action in &mut first.actions {
            match action {
                Action::Protocol(protocol) => *protocol = Protocol::with_feature(protocol, V2_FEATURE),
                Action::Metadata(metadata) => {
                    let properties = [STATS_AS_JSON, STATS_AS_STRUCT].into_iter().zip(form);
                    metadata.configuration.extend(properties.map(|(key, value)| (key.to_owned(), value.to_owned())));
                }
                _ => {}
            }
        }
        let mut log = vec![first];
        log.extend((1..=200).map(|i| Commit {
            version: Version(i),
            actions: vec![Action::Add(AddFile {
                path: format!("f_{i}"),
                partition_values: [("p".to_owned(), partition(i).map(str::to_owned))].into(),
                stats: Some(format!(r#"{{"numRecords":1,"minValues":{{"a":{i}}},"maxValues":{{"a":{i}}}}}"#)),
                data_change: true,
                ..AddFile::default()
            })],
        }));
        let commits = tables::objects(&log);
        for actions_per_sidecar in [None, NonZeroUsize::new(40)] {
            let kind = CheckpointKind::V2 { id: CheckpointId(7), actions_per_sidecar };
            for kind in [CheckpointKind::Classic, kind] {
                let mut objects = commits.clone();
                checkpoint(&mut objects, Some(150), kind, 0);
                delete_commits(&mut objects, 0..=150);
                for version in [150, 151, 177, 200] {
                    let snapshot = load(&objects, Some(version));
                    assert_eq!(snapshot.files.len() as u64, version);
                    for filter in &filters {
                        let found: Vec<&str> = snapshot
                            .adds()
                            .filter(|add| may_match(filter, &snapshot, add))
                            .map(|add| &*add.path)
                            .collect();
                        let row = |i: u64| {
                            let p = partition(i).map_or(Value::Null, |p| Value::String(p.to_owned()));
                            [p, Value::Integer(i as i32)]
                        };
                        let mut meant: Vec<String> = (1..=version)
                            .filter(|i| filter.matches(&row(*i)).expect("it can be evaluated"))
                            .map(|i| format!("f_{i}"))
                            .collect();
                        meant.sort();
                        assert!(!meant.is_empty(), "{filter}");
                        assert_eq!(found, meant, "{filter} at {version}, {kind:?}, {form:?}");
                    }
                }
            }
        }
    }
}
