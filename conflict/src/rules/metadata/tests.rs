use std::sync::Arc;

use log_core::{action::Action, commit::Commit, path::Version, snapshot::Snapshot};

use super::*;
use crate::{
    feature::Client,
    isolation::IsolationLevel,
    rules::RuleSet,
    testing::{actions, table},
    transaction::{Operation, ReadSet},
};

const ALL: &str =
    "protocol:1,7,appendOnly,invariants,rowTracking,columnMapping,deletionVectors,v2Checkpoint,inCommitTimestamp";

/// What the rules say of an append, or of a change of metadata, after new metadata.
fn verdict(protocol: &str, old: &Metadata, own: &[Action], theirs: Vec<Action>) -> Option<String> {
    let mut read = Snapshot::clone(&table("id long, p string", "p", &[protocol]));
    read.metadata = Arc::new(old.clone());
    let (operation, level) = (Operation::named("WRITE"), IsolationLevel::Serializable);
    let mut transaction =
        Transaction::new(Some(Arc::new(read)), ReadSet::default(), operation, own.to_vec(), level, "t".to_owned());
    transaction.client = Client::DeltaSpark;
    let winner = Winner::new(Commit { version: Version(2), actions: theirs });
    let conflict = RuleSet::delta_spark().check(&transaction, &winner)?;
    assert_eq!((conflict.rule.as_str(), conflict.finding.kind), ("metadata", ConflictKind::MetadataChanged));
    Some(conflict.finding.reason)
}

/// The metadata of the table with these properties.
fn metadata(properties: &[(&str, &str)]) -> Metadata {
    let configuration = properties.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Metadata { configuration, ..Metadata::clone(&table("id long, p string", "p", &[]).metadata) }
}

/// Does an append pass a winner that turns the first properties into the second?
#[track_caller]
fn check(old: &[(&str, &str)], new: &[(&str, &str)], passes: bool) {
    let append = actions("+n[p=a]");
    let found = verdict(ALL, &metadata(old), &append, vec![Action::Metadata(metadata(new))]);
    assert_eq!(found.is_none(), passes, "{old:?} to {new:?}: {found:?}");
}

#[test]
fn what_needs_no_other_files_may_be_switched_on_and_nothing_off() {
    for (key, on, off) in [
        ("delta.enableRowTracking", "true", "false"),
        ("delta.enableDeletionVectors", "true", "false"),
        ("delta.checkpointPolicy", "v2", "classic"),
        ("delta.enableInCommitTimestamps", "true", "false"),
        ("delta.columnMapping.mode", "name", "none"),
    ] {
        check(&[], &[(key, on)], true);
        check(&[(key, off)], &[(key, on)], true);
        check(&[(key, on)], &[(key, on)], true);
        check(&[(key, on)], &[(key, off)], false);
        check(&[(key, on)], &[], false);
        check(&[], &[(key, "nonsense")], false);
        check(&[], &[(key, &on.to_uppercase())], true);
        check(&[], &[(key, on), ("delta.checkpointInterval", "20")], false);
        // Without the feature it means nothing, and nobody knows what it will mean.
        let found =
            verdict("protocol:1,2", &metadata(&[]), &actions("+n"), vec![Action::Metadata(metadata(&[(key, on)]))]);
        assert!(found.is_some(), "{key}");
        // The winner may bring the feature along.
        let mut both = actions(ALL);
        both.push(Action::Metadata(metadata(&[(key, on)])));
        assert_eq!(verdict("protocol:1,2", &metadata(&[]), &actions("+n"), both), None, "{key}");
    }
    check(&[], &[], true);
    check(&[], &[("delta.checkpointInterval", "20")], false);
    check(&[("user.key", "1")], &[("user.key", "2")], false);
    check(&[("user.key", "1")], &[], false);
}

#[test]
fn column_mapping_goes_from_none_to_name_only() {
    let mode = |mode| [("delta.columnMapping.mode", mode)];
    check(&[], &mode("id"), false);
    check(&mode("id"), &mode("name"), false);
    check(&mode("name"), &mode("id"), false);
    check(&[], &[("delta.columnMapping.maxColumnId", "7")], true);
}

#[test]
fn names_of_row_tracking_columns_come_with_row_tracking() {
    for key in
        ["delta.rowTracking.materializedRowIdColumnName", "delta.rowTracking.materializedRowCommitVersionColumnName"]
    {
        let on = ("delta.enableRowTracking", "true");
        check(&[], &[(key, "x")], false);
        check(&[], &[(key, "x"), on], true);
        check(&[on], &[(key, "x"), on], true);
        check(&[], &[(key, "x"), ("delta.enableRowTracking", "false")], false);
    }
}

#[test]
fn the_record_of_an_enablement_is_written_once() {
    for key in ["delta.inCommitTimestampEnablementVersion", "delta.inCommitTimestampEnablementTimestamp"] {
        check(&[], &[(key, "7")], true);
        check(&[(key, "7")], &[(key, "8")], false);
    }
}

#[test]
fn the_id_in_a_catalog_is_fixed_where_the_catalog_owns_the_table() {
    for key in ["io.unitycatalog.tableId", "ucTableId"] {
        check(&[], &[(key, "7")], true);
        check(&[(key, "7")], &[(key, "8")], true);
        let owned = "protocol:1,7,appendOnly,invariants,catalogManaged";
        let new = vec![Action::Metadata(metadata(&[(key, "8")]))];
        assert!(verdict(owned, &metadata(&[(key, "7")]), &actions("+n"), new.clone()).is_some());
        assert_eq!(verdict(owned, &metadata(&[]), &actions("+n"), new), None);
    }
}

#[test]
fn whoever_brings_metadata_conflicts_with_any() {
    let same = metadata(&[]);
    let own = [Action::Metadata(metadata(&[("a", "b")]))];
    let found = verdict(ALL, &same, &own, vec![Action::Metadata(same.clone())]);
    assert_eq!(found.as_deref(), Some("wrote the table's metadata, as this transaction does"));
    assert_eq!(verdict(ALL, &same, &own, actions("+n[p=a]")), None);
    assert_eq!(verdict(ALL, &same, &actions("+n[p=a]"), vec![Action::Metadata(same.clone())]), None);
}

/// The tag is what counts, not what changed.
#[test]
fn marks_of_identity_columns_pass_by_their_tag() {
    let tagged = |tag: &str, metadata: Metadata| {
        let info =
            format!(r#"{{"commitInfo":{{"operation":"WRITE","tags":{{"delta.identity.schemaUpdate":{tag}}}}}}}"#);
        vec![Action::parse(&info).unwrap().unwrap(), Action::Metadata(metadata)]
    };
    let other = || Metadata { schema_string: r#"{"type":"struct","fields":[]}"#.to_owned(), ..metadata(&[]) };
    let check = |tag: &str, own: &[Action], passes: bool| {
        let found = verdict(ALL, &metadata(&[]), own, tagged(tag, other()));
        assert_eq!(found.is_none(), passes, "{tag}: {found:?}");
    };
    let append = actions("+n[p=a]");
    check(r#""true""#, &append, true);
    check("true", &append, true);
    check(r#""false""#, &append, false);
    check("false", &append, false);
    check("1", &append, false);
    check(r#""true""#, &[Action::Metadata(metadata(&[]))], false);
}

#[test]
fn everything_else_of_metadata_is_fixed() {
    let text = |text: &str| Some(text.to_owned());
    type Change = (&'static str, fn(&mut Metadata));
    let changes: [Change; 7] = [
        ("its id differs", |metadata| metadata.id.push('x')),
        ("its name differs", |metadata| metadata.name = Some("x".to_owned())),
        ("its description differs", |metadata| metadata.description = Some("x".to_owned())),
        ("the format differs", |metadata| metadata.format.provider.push('x')),
        ("the partition columns differs", |metadata| metadata.partition_columns.clear()),
        ("the time of creation differs", |metadata| metadata.created_time = Some(7)),
        ("a field that the protocol does not know differs", |metadata| {
            metadata.extra.insert("x".to_owned(), 1.into());
        }),
    ];
    for (reason, change) in changes {
        let mut new = metadata(&[]);
        change(&mut new);
        let found = verdict(ALL, &metadata(&[]), &actions("+n"), vec![Action::Metadata(new)]);
        assert_eq!(found, text(&format!("changed the table's metadata: {reason}")));
    }
    let found = verdict(ALL, &metadata(&[("a", "b")]), &actions("+n"), vec![Action::Metadata(metadata(&[]))]);
    assert_eq!(found, text("changed the table's metadata: the property a is unset"));
    let found = verdict(ALL, &metadata(&[]), &actions("+n"), vec![Action::Metadata(metadata(&[("a", "b")]))]);
    assert_eq!(
        found,
        text("changed the table's metadata: the property a is b, which may not be set while others write")
    );
}

#[test]
fn a_schema_may_gain_the_names_of_column_mapping_and_nothing_else() {
    let field = |name: &str, data_type: &str, nullable: bool, metadata: &str| {
        format!(r#"{{"name":"{name}","type":{data_type},"nullable":{nullable},"metadata":{{{metadata}}}}}"#)
    };
    let schema = |fields: &[String]| format!(r#"{{"type":"struct","fields":[{}]}}"#, fields.join(","));
    let (long, text) = (r#""long""#, r#""string""#);
    let old = [field("id", long, true, r#""comment":"c""#), field("p", text, true, "")];
    let mapping = r#""delta.columnMapping.id":1,"delta.columnMapping.physicalName":"x""#;
    let mapped = field("id", long, true, &format!(r#""comment":"c",{mapping}"#));
    let p = || old[1].clone();
    let mode = ("delta.columnMapping.mode", "name");
    let check_from = |from: &[(&str, &str)], to: &[(&str, &str)], fields: &[String], passes: bool| {
        let before = Metadata { schema_string: schema(&old), ..metadata(from) };
        let after = Metadata { schema_string: schema(fields), ..metadata(to) };
        let found = verdict(ALL, &before, &actions("+n"), vec![Action::Metadata(after)]);
        assert_eq!(found.is_none(), passes, "{fields:?}: {found:?}");
        assert!(found.is_none_or(|reason| reason.ends_with("the schema differs")));
    };
    let check = |fields: &[String], passes: bool| check_from(&[], &[mode], fields, passes);
    check(&[mapped.clone(), p()], true);
    check(&[field("id", long, true, r#""comment":"c","delta.columnMapping.nested.ids":{}"#), p()], true);
    check(std::slice::from_ref(&mapped), false);
    check(&[mapped.clone(), p(), field("q", text, true, "")], false);
    check(&[p(), mapped.clone()], false);
    check(&[mapped.replace("\"id\"", "\"ID\""), p()], false);
    check(&[mapped.replace("long", "string"), p()], false);
    check(&[mapped.replace("true", "false"), p()], false);
    check(&[field("id", long, true, mapping), p()], false);
    check(&[field("id", long, true, r#""comment":"d""#), p()], false);
    check(&[field("id", long, true, r#""comment":"c","delta.identity.step":1"#), p()], false);
    check(&["nonsense".to_owned()], false);
    // Only together with the switch from none to name.
    check_from(&[], &[], &[mapped.clone(), p()], false);
    check_from(&[mode], &[mode], &[mapped, p()], false);
}
