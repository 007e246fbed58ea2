//! One transaction against 1,000 winners beside deltalake-core: both commit through their public path on a log in memory that was prepared.
//!
//! deltalake-core is built without DataFusion and then does not evaluate predicates at all, so that it does less than contend: what is printed is the least that
//! it takes longer. Only the commit itself is timed, up to the put that succeeds; what it does after it is not.

use std::{collections::HashMap, sync::Arc, time::Instant};

use benches::{
    median,
    winners::{self, ADDS, FILE, PREDICATE, READ, WINNERS},
};
use conflict::rules::RuleSet;
use deltalake_core::{
    DeltaTableBuilder, Path,
    kernel::{
        Action, EagerSnapshot, Remove,
        transaction::{CommitBuilder, TableReference},
    },
    logstore::object_store::{ObjectStoreExt, PutPayload},
    protocol::DeltaOperation,
};
use log_core::path::{Version, commit_path};
use url::Url;

const RUNS: usize = 7;

/// Seconds of a commit past all winners.
fn contend(commits: &[Vec<u8>]) -> f64 {
    let mut log = winners::store(commits);
    let (transaction, rules) = (Arc::new(winners::transaction(&mut log)), Arc::new(RuleSet::delta_spark()));
    let begin = Instant::now();
    winners::commit(&mut log, transaction, rules);
    begin.elapsed().as_secs_f64()
}

/// The same of deltalake-core.
async fn deltalake(commits: &[Vec<u8>]) -> f64 {
    let url = Url::parse("memory:///").expect("a URL");
    let store = DeltaTableBuilder::from_url(url).expect("a place").build_storage().expect("a store");
    let objects = store.object_store(None);
    for (version, bytes) in commits.iter().enumerate() {
        let path = Path::from(commit_path(Version(version as u64)));
        objects.put(&path, PutPayload::from(bytes.clone())).await.expect("room");
    }
    let read = EagerSnapshot::try_new(store.as_ref(), Some(READ.0)).await.expect("a table");
    let remove = Action::Remove(Remove {
        path: FILE.to_owned(),
        data_change: true,
        deletion_timestamp: Some(1_700_000_000_000),
        extended_file_metadata: Some(true),
        partition_values: Some(HashMap::from([("day".to_owned(), Some("2024-01-01".to_owned()))])),
        size: Some(123_456),
        tags: None,
        deletion_vector: None,
        base_row_id: None,
        default_row_commit_version: None,
    });
    let operation = DeltaOperation::Delete { predicate: Some(PREDICATE.to_owned()) };
    let begin = Instant::now();
    let commit = CommitBuilder::default().with_actions(vec![remove]).build(
        Some(&read as &dyn TableReference),
        store.clone(),
        operation,
    );
    let committed = commit.into_prepared_commit_future().await.expect("a commit").await.expect("no conflict");
    let seconds = begin.elapsed().as_secs_f64();
    drop(committed);
    let last = Path::from(commit_path(Version(READ.0 + WINNERS + 1)));
    assert!(objects.head(&last).await.is_ok(), "it is committed behind the winners");
    seconds
}

fn main() {
    let commits = winners::commits(WINNERS, ADDS);
    let bytes: usize = commits.iter().map(Vec::len).sum();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
    let (mut own, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        own.push(contend(&commits));
        theirs.push(runtime.block_on(deltalake(&commits)));
    }
    let (own, theirs) = (median(own), median(theirs));
    println!("{WINNERS} winners of {ADDS} adds, {:.1} MB of commits, medians of {RUNS} runs", bytes as f64 / 1e6);
    println!("  contend         {own:>8.3} s");
    println!("  deltalake-core  {theirs:>8.3} s  {:.1} times as long", theirs / own);
}
