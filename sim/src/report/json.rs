//! Reports as JSON documents: what other tools rely on.
//!
//! Every document has `schema`, `command` and `verdict`. Numbers are integers, keys are in order, and nothing in a document depends on how long
//! anything took. Values of rows are written as in [`crate::digest`].

mod calls;

use serde_json::{Map, Value, json};

use super::{
    Origin, Subject, Verdict,
    explore::{Searched, Stopped},
};
use crate::{
    failure::{Failure, Replayed},
    judge::Violation,
    run::{RunResult, TableResult},
    scenario::Shipped,
    shrink::{Shrunk, Size},
    walk::{Walk, Work},
};

/// The version of the form of these documents.
pub const SCHEMA: u64 = 1;

/// The document of one run; `replay` is the command that gives it again.
pub fn run(subject: &Subject<'_>, result: &RunResult, replay: &str) -> String {
    let mut document = start("run", Verdict::of(&result.violations), subject);
    run_fields(&mut document, subject, result);
    match subject.origin {
        Origin::Seed(seed) => document.insert("seed".to_owned(), json!(seed)),
        Origin::Store(directory) => document.insert("store".to_owned(), json!(directory)),
        Origin::Schedule(_) | Origin::Search | Origin::Seeds(_) => None,
    };
    document.insert("violations".to_owned(), result.violations.iter().map(violation).collect());
    document.insert("replay".to_owned(), json!(replay));
    text(document)
}

/// The document of a search.
pub fn explore(subject: &Subject<'_>, searched: &Searched) -> String {
    let mut document = start("explore", searched.verdict(), subject);
    let outcomes: Vec<Value> = searched
        .outcomes
        .iter()
        .map(|(committed, finals)| json!({ "committed": committed, "finals": finals }))
        .collect();
    let violations: Vec<Value> = searched
        .violations
        .iter()
        .map(|shortest| {
            let failure = &shortest.failure;
            json!({
                "kind": failure.kind.name(),
                "message": failure.message,
                "schedule": failure.schedule,
                "length": failure.schedule.len(),
                "file": shortest.file,
            })
        })
        .collect();
    let stopped = searched.stopped.map(|stopped| match stopped {
        Stopped::Memory(_) => "memory",
        Stopped::Interrupted => "interrupted",
    });
    extend(
        &mut document,
        json!({
            "exhausted": searched.stopped.is_none(),
            "stopped": stopped,
            "states": searched.states,
            "transitions": searched.transitions,
            "ends": searched.ends,
            "unknown_ends": searched.unknown_ends,
            "crashed_ends": searched.crashed_ends,
            "depth": searched.depth,
            "bytes": searched.bytes,
            "alike": searched.alike,
            "outcomes": outcomes,
            "violations": violations,
        }),
    );
    text(document)
}

/// The document of many runs; `replay` gives the command that runs one seed alone.
pub fn walk(subject: &Subject<'_>, walk: &Walk, replay: &dyn Fn(u64) -> String) -> String {
    let mut document = start("walk", super::walk::verdict(walk), subject);
    let outcomes: Vec<Value> =
        walk.outcomes.iter().map(|(committed, count)| json!({ "committed": committed, "count": count })).collect();
    let violations: Vec<Value> = walk
        .violations
        .iter()
        .map(|(kind, violated)| {
            json!({
                "kind": kind.name(),
                "runs": violated.runs,
                "seed": violated.seed,
                "message": violated.message,
                "replay": replay(violated.seed),
            })
        })
        .collect();
    let (ends, puts) = (&walk.ends, &walk.puts);
    let work = |work: &Work| json!({ "executions": work.executions, "bytes": work.bytes, "ms": work.ms });
    let faults: Map<String, Value> =
        walk.faults.iter().map(|(kind, count)| (kind.name().to_owned(), json!(count))).collect();
    extend(
        &mut document,
        json!({
            "seeds": walk.seeds,
            "outcomes": outcomes,
            "median_committed": walk.median_committed(),
            "executions": {
                "committed": ends.committed,
                "nothing": ends.nothing,
                "answered": ends.answered,
                "conflicts": ends.conflicts,
                "exhausted": ends.exhausted,
                "unknown": ends.unknown,
                "crashed": ends.crashed,
                "failed": ends.failed,
            },
            "puts": { "made": puts.made, "lost": puts.lost, "unclear": puts.unclear },
            "wasted": work(&walk.wasted),
            "useful": work(&walk.useful),
            "latency_ms": {
                "p50": walk.latency_ms(500),
                "p90": walk.latency_ms(900),
                "p99": walk.latency_ms(990),
                "max": walk.latency_ms(1000),
            },
            "orphans": walk.orphans,
            "rules_seen": walk.rules,
            "faults": faults,
            "never_seen": super::walk::unseen(subject, walk),
            "violations": violations,
        }),
    );
    text(document)
}

/// The document of a failure file that was followed again.
pub fn replay(failure: &Failure, replayed: &Replayed) -> String {
    let subject = super::replay::subject(failure, replayed);
    let mut document = start("replay", Verdict::of(&replayed.result.violations), &subject);
    run_fields(&mut document, &subject, &replayed.result);
    let violations: Vec<Value> = replayed
        .found
        .iter()
        .map(|(step, found)| json!({ "kind": found.kind.name(), "message": found.message, "length": step }))
        .collect();
    extend(
        &mut document,
        json!({
            "reproduced": replayed.reproduced.is_some(),
            "kind": failure.kind.name(),
            "message": failure.message,
            "length": replayed.reproduced,
            "schedule": failure.schedule,
            "violations": violations,
            "program": failure.program,
        }),
    );
    text(document)
}

/// The document of a failure that was made smaller; `file` is where it was written.
pub fn shrink(shrunk: &Shrunk, replayed: &Replayed, file: Option<&str>) -> String {
    let failure = &shrunk.failure;
    let subject = super::replay::subject(failure, replayed);
    let mut document = start("shrink", Verdict::of(&replayed.result.violations), &subject);
    let size = |size: Size| {
        json!({
            "writers": size.writers,
            "statements": size.statements,
            "rows": size.rows,
            "steps": size.steps,
        })
    };
    extend(
        &mut document,
        json!({
            "kind": failure.kind.name(),
            "message": failure.message,
            "schedule": failure.schedule,
            "length": failure.schedule.len(),
            "before": size(shrunk.before),
            "after": size(shrunk.after),
            "tried": shrunk.tried,
            "shortest": shrunk.shortest,
            "toml": failure.scenario.to_string(),
            "file": file,
        }),
    );
    text(document)
}

/// The document of the scenarios that are built in.
pub fn scenarios(shipped: &[Shipped]) -> String {
    let scenarios: Vec<Value> = shipped
        .iter()
        .map(|scenario| {
            json!({ "name": format!("@{}", scenario.name), "summary": scenario.summary, "toml": scenario.text })
        })
        .collect();
    let mut document = Map::new();
    let verdict = Verdict::Pass.name();
    extend(
        &mut document,
        json!({ "schema": SCHEMA, "command": "scenarios", "verdict": verdict, "scenarios": scenarios }),
    );
    text(document)
}

/// What every document about a scenario begins with.
fn start(command: &str, verdict: Verdict, subject: &Subject<'_>) -> Map<String, Value> {
    let scenario = &subject.setting.scenario;
    let mut document = Map::new();
    extend(
        &mut document,
        json!({
            "schema": SCHEMA,
            "command": command,
            "verdict": verdict.name(),
            "scenario": scenario.name,
            "level": subject.setting.level().unwrap_or(subject.setting.rules.default_level).to_string(),
            "rules": { "name": subject.rules.name, "without": subject.rules.without },
            "writers": scenario.writers.iter().map(|writer| &writer.name).collect::<Vec<_>>(),
        }),
    );
    document
}

/// What any history comes to.
fn run_fields(document: &mut Map<String, Value>, subject: &Subject<'_>, result: &RunResult) {
    let tables: Map<String, Value> =
        result.tables.iter().map(|table| (table.name.clone(), self::table(subject, table))).collect();
    extend(
        document,
        json!({
            "committed": result.committed,
            "conflicts": result.conflicts,
            "unknown": result.unknown,
            "crashed": result.crashed,
            "orphans": result.orphans(),
            "calls": calls::calls(subject, result),
            "tables": tables,
        }),
    );
}

fn table(subject: &Subject<'_>, table: &TableResult) -> Value {
    let setting = subject.setting;
    let versions: Vec<Value> = table
        .calls
        .iter()
        .enumerate()
        .map(|(i, call)| {
            let writer = call.map(|call| setting.writer_name(call.writer));
            let statement = call.map(|call| call.statement + 1);
            json!({ "version": table.first + i as u64, "writer": writer, "statement": statement })
        })
        .collect();
    let oracle = table.judgement.as_ref().map(|judgement| {
        let order = judgement.witness.as_ref();
        let order = order.map(|order| order.iter().map(|&i| table.first + i as u64).collect::<Vec<_>>());
        json!({
            "explained": judgement.explained,
            "order": order,
            "reads_unexplained": judgement.reads_unexplained,
        })
    });
    json!({
        "level": table.level.to_string(),
        "version": table.version.0,
        "versions_of_setup": table.first,
        "versions": versions,
        "rows": table.rows,
        "rows_sha256": table.rows_sha256,
        "active_files": table.active_files,
        "orphans": table.orphans,
        "oracle": oracle,
    })
}

fn violation(violation: &Violation) -> Value {
    json!({ "kind": violation.kind.name(), "message": violation.message })
}

fn extend(document: &mut Map<String, Value>, fields: Value) {
    if let Value::Object(fields) = fields {
        document.extend(fields);
    }
}

fn text(document: Map<String, Value>) -> String {
    format!("{:#}\n", Value::Object(document))
}
