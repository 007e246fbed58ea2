//! Ctrl-C ends long work with a report of what was done.

#![cfg(unix)]

use std::{
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use assert_cmd::cargo::CommandCargoExt;

use super::support::ran;

#[test]
fn a_walk_that_is_interrupted_reports_the_seeds_that_were_run() {
    let mut command = Command::cargo_bin("contend").unwrap();
    command.args(["walk", "@write-conflict", "--seeds", "0..1000000000", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Time for it to begin; one that has not begun yet just ends.
    thread::sleep(Duration::from_millis(1500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let ran = ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 1, "{ran:?}");
    let document = ran.json();
    assert_eq!(document["verdict"], "incomplete");
    let seeds = document["seeds"].as_u64().unwrap();
    assert!((1..1_000_000_000).contains(&seeds), "{seeds}");
    let counts = document["outcomes"].as_array().unwrap().iter().map(|outcome| outcome["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), seeds);
}
