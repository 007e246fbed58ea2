//! Rules about protocol and metadata of a commit.

use std::collections::{BTreeMap, BTreeSet};

use super::{Findings, Rule, state::State};
use crate::{
    action::{Action, Protocol},
    commit::Commit,
    error_chain::error_chain,
};

/// Whoever says what a client must implement says it in a form that every client understands.
pub(super) fn protocol(commit: &Commit, _: &State, findings: &mut Findings) {
    for action in &commit.actions {
        let Action::Protocol(protocol) = action else { continue };
        for problem in problems(protocol) {
            findings.report(Rule::InvalidProtocol, problem);
        }
        if let Err(error) = protocol.check_readable() {
            findings.report(Rule::UnsupportedFeature, error.to_string());
        }
    }
}

fn problems(protocol: &Protocol) -> Vec<String> {
    let (reader, writer) = (protocol.min_reader_version, protocol.min_writer_version);
    let mut problems = Vec::new();
    if reader < 1 || writer < 1 {
        problems.push(format!("reader version {reader} and writer version {writer}: versions are counted from 1"));
    }
    if reader == 3 && writer < 7 {
        problems.push(format!("reader version 3 needs writer version 7, and it is {writer}"));
    }
    for (role, version, by_features, list) in
        [("reader", reader, 3, &protocol.reader_features), ("writer", writer, 7, &protocol.writer_features)]
    {
        match list {
            None if version == by_features => {
                problems.push(format!("{role} version {version} needs a list of {role} features"));
            }
            Some(_) if version < by_features => problems.push(format!(
                "it has a list of {role} features, which only {role} version {by_features} may have, and it is {version}"
            )),
            _ => {}
        }
    }
    if let (Some(readers), Some(writers)) = (&protocol.reader_features, &protocol.writer_features) {
        let writers: BTreeSet<&String> = writers.iter().collect();
        let only: Vec<&str> = readers.iter().filter(|feature| !writers.contains(feature)).map(String::as_str).collect();
        if !only.is_empty() {
            problems.push(format!("reader features that are not listed for writers: {}", only.join(", ")));
        }
    }
    problems
}

/// Every table has protocol and metadata, from its first version on.
pub(super) fn presence(_: &Commit, state: &State, findings: &mut Findings) {
    if state.protocol().is_none() {
        findings.report(Rule::MissingProtocol, "no protocol action up to here; the first commit of a table has one");
    }
    if state.metadata().is_none() {
        findings.report(Rule::MissingMetadata, "no metaData action up to here; the first commit of a table has one");
    }
}

/// What only a feature lets a commit say is said under a protocol that has the feature: a client that never heard of it would read or write the table wrong.
pub(super) fn undeclared_features(commit: &Commit, state: &State, findings: &mut Findings) {
    let Some(protocol) = state.protocol() else { return };
    let declared = protocol.features();
    let mut uses: BTreeMap<(&str, &str), (usize, &str)> = BTreeMap::new();
    for action in &commit.actions {
        let (feature, what, about) = match action {
            Action::Add(add) if add.deletion_vector.is_some() => ("deletionVectors", "deletion vectors", &add.path),
            Action::Add(add) if add.base_row_id.is_some() => ("rowTracking", "base row ids", &add.path),
            Action::DomainMetadata(domain) => ("domainMetadata", "domains", &domain.domain),
            _ => continue,
        };
        if !declared.contains(feature) {
            uses.entry((feature, what)).or_insert((0, about)).0 += 1;
        }
    }
    for ((feature, what), (count, first)) in uses {
        findings.report(
            Rule::UndeclaredFeature,
            format!(
                "it has {what} ({count}, the first is that of '{first}'), and the protocol does not list {feature}"
            ),
        );
    }
}

/// The schema can be read, its names differ in more than letter case, and it has the partition columns, each once.
pub(super) fn schema(commit: &Commit, state: &State, findings: &mut Findings) {
    if !commit.actions.iter().any(|action| matches!(action, Action::Metadata(_))) {
        return;
    }
    // A feature that this build does not know may bring types that it does not know.
    let readable = state.protocol().is_none_or(|protocol| protocol.check_readable().is_ok());
    if let Some(Err(error)) = state.schema()
        && readable
    {
        findings.report(Rule::Schema, error_chain(error));
    }
    if let Some(Ok(schema)) = state.schema() {
        distinct("columns", schema.fields.iter().map(|field| &field.name), findings);
    }
    if let Some(metadata) = state.metadata() {
        distinct("partition columns", metadata.partition_columns.iter(), findings);
    }
}

fn distinct<'a>(what: &str, names: impl Iterator<Item = &'a String>, findings: &mut Findings) {
    let mut seen: BTreeMap<String, &String> = BTreeMap::new();
    for name in names {
        if let Some(other) = seen.insert(name.to_lowercase(), name) {
            let message = format!("the {what} '{other}' and '{name}' are one name, as letter case does not count");
            findings.report(Rule::Schema, message);
        }
    }
}
