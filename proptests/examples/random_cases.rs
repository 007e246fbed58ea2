//! Writes random conflict cases as files, each with the verdict of a rule set as its expectation, and counts what they exercise.
//!
//! ```text
//! cargo run -p proptests --example random_cases -- --rules delta-spark-4.0.0 --seed 1 --count 2000 --out target/random-cases
//! ```
//!
//! Delta Spark judges the files itself (its own `OptimisticTransaction`); what it says is then compared with what the files expect.

use std::{collections::BTreeMap, env, error::Error, fs, path::PathBuf, sync::Arc};

use conflict::{
    rebase::rebase,
    rules::RuleSet,
    transaction::{Transaction, Winner},
};
use log_core::action::Action;
use proptests::cases::{Seeded, generate};
use serde_json::{Value as Json, json};
use sim::{
    conflict_case::{Case, Outcome, judge},
    rule_choice::RuleChoice,
};

struct Arguments {
    seed: u64,
    count: u64,
    out: PathBuf,
    rules: RuleSet,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let (mut seed, mut count, mut out, mut choice) = (1, 2000, None, RuleChoice::default());
    let mut words = env::args().skip(1);
    while let Some(flag) = words.next() {
        let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--seed" => seed = value.parse()?,
            "--count" => count = value.parse()?,
            "--out" => out = Some(PathBuf::from(value)),
            "--rules" => choice.name = value,
            _ => return Err(format!("unknown flag {flag}; there are --seed, --count, --out and --rules").into()),
        }
    }
    Ok(Arguments { seed, count, out: out.ok_or("--out FOLDER is needed")?, rules: choice.rule_set()? })
}

/// How often a rule fired, and how often it was close to: what it looks at was there, and was not quite what it looks for.
#[derive(Default)]
struct Count {
    fired: u64,
    missed: u64,
}

/// Which rules a winner that was passed brought close to firing.
fn narrowly_missed(own: &Transaction, winner: &Winner) -> Vec<&'static str> {
    let mut missed = Vec::new();
    let mut note = |rule, missed_it: bool| missed.extend(missed_it.then_some(rule));
    let removes = winner.removes().next().is_some();
    let own_domains = own.actions.iter().filter(|action| matches!(action, Action::DomainMetadata(_))).count();
    let moves = winner.commit.actions.iter().any(|action| matches!(action, Action::Transaction(_)));
    let drops = own.actions.iter().any(|action| matches!(action, Action::Protocol(_)));
    note("feature-drop", drops && winner.commit.actions.iter().any(|action| !matches!(action, Action::CommitInfo(_))));
    note("backfill", own.operation.is_unbackfill() || own.operation.is_backfill() && winner.is_backfill());
    note("protocol", winner.protocol().is_some());
    note("metadata", winner.metadata().is_some());
    note("domain-metadata", own_domains > 0 && winner.domains().next().is_some());
    note("application-transaction", moves && !own.reads.app_ids.is_empty());
    note("added-files", winner.adds().next().is_some() && !own.blind_append);
    note("removed-and-read", removes && !own.reads.files.is_empty());
    note("removed-twice", removes && own.removes().next().is_some());
    missed
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { seed, count, out, rules } = arguments()?;
    fs::create_dir_all(&out)?;
    let mut counts: BTreeMap<&str, Count> = rules.rules.iter().map(|rule| (rule.id, Count::default())).collect();
    let (mut several, mut committed, mut rebased) = (0, 0, 0);
    for number in 0..count {
        let name = format!("random_{seed}_{number:05}");
        let mut document = generate(&name, &mut Seeded(seed.wrapping_mul(0x0001_0000_0001).wrapping_add(number)));
        let case = Case::parse(&document.to_string()).map_err(|error| format!("{name}: {error}"))?;
        several += u64::from(case.winners().len() > 1);
        let (own, _) = case.transaction().map_err(|error| format!("{name}: {error}"))?;
        let mut own = Arc::new(own);
        if own.operation.is_never_rebased() && case.winners().is_empty() {
            counts.entry("never-rebased").or_default().missed += 1;
        }
        for commit in case.winners() {
            let winner = Winner::new(commit.clone());
            if let Some(conflict) = rules.check(&own, &winner) {
                if let Some(count) = counts.get_mut(conflict.rule.as_str()) {
                    count.fired += 1;
                }
                break;
            }
            for rule in narrowly_missed(&own, &winner) {
                counts.entry(rule).or_default().missed += 1;
            }
            rebase(&mut own, &winner)?;
        }
        let verdict = judge(&case, &rules)?;
        document["expect"] = match &verdict.outcome {
            Outcome::Committed { version, commit } => {
                committed += 1;
                let facts = facts(&commit.actions);
                rebased += u64::from(facts != json!({}) && !case.winners().is_empty());
                json!({ "outcome": "committed", "version": version.0, "rebased": facts })
            }
            Outcome::Conflict(explanation) => {
                let mut expect = json!({
                    "outcome": "conflict", "conflict": explanation.kind.to_string(), "winner": explanation.winner.0,
                });
                if let Some(partition) = &explanation.partition {
                    expect["partition"] = json!(partition);
                }
                expect
            }
            Outcome::Stuck(error) => return Err(format!("{name}: {error}").into()),
        };
        fs::write(out.join(format!("{name}.json")), format!("{document:#}\n"))?;
    }
    println!(
        "{count} cases in {}: {committed} commit, {several} have several winners, {rebased} commits carry rebased ids or marks",
        out.display()
    );
    println!("{:25} {:>7} {:>7}", "rule", "fired", "missed");
    for (rule, Count { fired, missed }) in counts {
        println!("{rule:25} {fired:7} {missed:7}");
    }
    Ok(())
}

/// What a commit holds of row ids, in the words of a case.
fn facts(actions: &[Action]) -> Json {
    let (mut ids, mut versions, mut facts) = (serde_json::Map::new(), serde_json::Map::new(), json!({}));
    for action in actions {
        match action {
            Action::Add(add) => {
                ids.extend(add.base_row_id.map(|id| (add.path.clone(), json!(id))));
                versions.extend(add.default_row_commit_version.map(|version| (add.path.clone(), json!(version))));
            }
            Action::DomainMetadata(domain) => {
                if let Some(mark) = conflict::rebase::high_water_mark(domain) {
                    facts["rowIdHighWaterMark"] = json!(mark);
                }
            }
            _ => {}
        }
    }
    for (key, values) in [("baseRowId", ids), ("defaultRowCommitVersion", versions)] {
        if !values.is_empty() {
            facts[key] = Json::Object(values);
        }
    }
    facts
}
