//! Flags that every command takes that runs a scenario.

use std::{fs, sync::Arc};

use clap::Args;
use sim::{
    rule_choice::RuleChoice,
    scenario::{self, Place, ScenarioError},
    world::{Clock, Granularity, Setting},
};

use super::error::{CliError, about, of_setting};

/// A scenario, and what is changed in it.
#[derive(Debug, Args)]
pub struct ScenarioArguments {
    /// A scenario: @NAME of one that is built in, or the path of a TOML file.
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// The isolation level of the tables: Serializable or WriteSerializable.
    #[arg(long, value_name = "LEVEL")]
    pub isolation: Option<String>,
    /// The rule set.
    #[arg(long, value_name = "NAME", default_value_t = RuleChoice::default().name)]
    pub rules: String,
    /// Leave a rule out; may be given several times.
    #[arg(long, value_name = "RULE")]
    pub without: Vec<String>,
    /// How slow the store is: adls, azure-premium, s3, s3-express, gcs or local.
    #[arg(long, value_name = "PROFILE")]
    pub latency: Option<String>,
    /// Change a setting of the scenario by its TOML path; may be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

impl ScenarioArguments {
    /// The scenario with its changes, ready to run by the rules.
    pub fn setting(&self, clock: Clock, granularity: Granularity) -> Result<Arc<Setting>, CliError> {
        let scenario = scenario::load(&self.scenario, &self.overrides()?, &|path| fs::read_to_string(path));
        let scenario = scenario.map_err(|error| self.by_flag(error))?;
        let rules = self.rules().rule_set()?;
        let setting = Setting::new(scenario, rules, String::new(), clock, granularity);
        setting.map(Arc::new).map_err(|error| of_setting(&self.scenario, error))
    }

    /// The rules by name.
    pub fn rules(&self) -> RuleChoice {
        let mut without = self.without.clone();
        without.sort();
        without.dedup();
        RuleChoice { name: self.rules.clone(), without }
    }

    fn overrides(&self) -> Result<Vec<(String, String)>, CliError> {
        let mut overrides = Vec::new();
        for setting in &self.set {
            let Some((path, value)) = setting.split_once('=') else {
                return Err(format!("--set {setting}: a setting is PATH=VALUE, such as store.latency=s3").into());
            };
            overrides.push((path.to_owned(), value.to_owned()));
        }
        let own = [("isolation", &self.isolation), ("store.latency", &self.latency)];
        overrides.extend(own.into_iter().filter_map(|(path, value)| Some((path.to_owned(), value.clone()?))));
        Ok(overrides)
    }

    /// An error in the words of the flag that was given, where `--set` would say the same.
    fn by_flag(&self, error: ScenarioError) -> CliError {
        let flag = match &error.place {
            Place::Set(path) if path == "isolation" && self.isolation.is_some() => "--isolation",
            Place::Set(path) if path == "store.latency" && self.latency.is_some() => "--latency",
            _ => return error.into(),
        };
        about(format!("{}, {flag}", error.origin))(error.problem)
    }

    /// The command line that runs the scenario again.
    pub fn command(&self, command: &str, more: &[String]) -> String {
        let mut words = vec!["contend".to_owned(), command.to_owned(), self.scenario.clone()];
        words.extend_from_slice(more);
        for (flag, value) in [("--isolation", &self.isolation), ("--latency", &self.latency)] {
            words.extend(value.iter().flat_map(|value| [flag.to_owned(), value.clone()]));
        }
        words.extend(self.rules().flags());
        words.extend(self.set.iter().flat_map(|setting| ["--set".to_owned(), setting.clone()]));
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// A word as a POSIX shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./_-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
