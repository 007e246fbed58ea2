//! What the tests share.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use conflict::rules::RuleSet;
pub use log_core::error_chain::error_chain as chain;
use sim::{
    real::{RealError, RealOptions, run_on_threads},
    run::RunResult,
    scenario::{self, Scenario},
    world::{Clock, Granularity, Setting},
};

/// A scenario that ships, with settings over it.
pub fn shipped(name: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<_> = overrides.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    scenario::load(name, &overrides, &|path| fs::read_to_string(path)).expect("it ships")
}

/// The setting of a scenario.
pub fn setting(scenario: Scenario) -> Arc<Setting> {
    let rules = RuleSet::delta_spark();
    Arc::new(Setting::new(scenario, rules, String::new(), Clock::Virtual, Granularity::Needs).expect("it is sound"))
}

/// Runs it.
pub fn run(scenario: Scenario, root: &Path) -> Result<RunResult, RealError> {
    run_on_threads(&setting(scenario), root, RealOptions::default())
}

/// Every file below a folder, with its content.
pub fn listing(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let name = entry.strip_prefix(root).expect("below").display().to_string();
            if entry.is_dir() {
                files.insert(name + "/", Vec::new());
                folders.push(entry);
            } else {
                files.insert(name, fs::read(&entry).expect("a file"));
            }
        }
    }
    files
}

/// A scenario from its text.
pub fn parse(text: &str) -> Scenario {
    Scenario::parse(text, "test").expect("it is sound")
}
