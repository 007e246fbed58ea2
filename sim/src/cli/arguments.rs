//! Flags that every command takes that runs a scenario.

use std::fs;

use clap::Args;
use sim::{
    rule_choice::{RuleChoice, RuleChoiceError},
    scenario::{self, Place, ScenarioError},
    world::{Clock, Granularity, Setting},
};

use super::error::{CliError, about};

/// A scenario, and what is changed in it.
#[derive(Clone, Debug, Args)]
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
    /// Leave a rule or another safety device out; may be given several times.
    #[arg(long, value_name = "RULE")]
    pub without: Vec<String>,
    /// How slow the store is: adls, azure-premium, s3, s3-express, gcs or local.
    #[arg(long, value_name = "PROFILE")]
    pub latency: Option<String>,
    /// Change a setting of the scenario by its TOML path; may be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// A second setting, by these flags over the others: two columns side by side.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub compare: Option<String>,
}

impl ScenarioArguments {
    /// The scenario with its changes, ready to run by the rules.
    pub fn setting(&self, clock: Clock, granularity: Granularity) -> Result<Setting, CliError> {
        let scenario = scenario::load(&self.scenario, &self.overrides()?, &|path| fs::read_to_string(path));
        let scenario = scenario.map_err(|error| self.by_flag(error))?;
        match self.rules().setting(scenario, clock, granularity) {
            Ok(setting) => Ok(setting),
            // What is wrong with the flags is not wrong with the scenario.
            Err(RuleChoiceError::Setting(error)) => Err(about(&self.scenario)(error.into())),
            Err(error) => Err(error.into()),
        }
    }

    /// These flags with others over them.
    pub fn with(&self, over: &Self) -> Self {
        let both = |first: &[String], second: &[String]| first.iter().chain(second).cloned().collect();
        let rules = if over.rules == RuleChoice::default().name { &self.rules } else { &over.rules };
        Self {
            scenario: self.scenario.clone(),
            isolation: over.isolation.clone().or_else(|| self.isolation.clone()),
            rules: rules.clone(),
            without: both(&self.without, &over.without),
            latency: over.latency.clone().or_else(|| self.latency.clone()),
            set: both(&self.set, &over.set),
            compare: None,
        }
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
