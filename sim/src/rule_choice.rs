//! Rule sets by name: what `--rules` and `--without` choose, and what a failure file keeps of that.

use std::fmt;

use conflict::rules::{RuleSet, UnknownRule};

use crate::{
    scenario::Scenario,
    sql::nearest::nearest,
    world::{Clock, Granularity, Setting, SettingError},
};

/// A rule set of this program, and the rules and other safety devices that are left out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RuleChoice {
    /// The name of the rule set.
    pub name: String,
    /// Ids of what is left out, as [`RuleSet::without`] takes them, in order and each once.
    pub without: Vec<String>,
}

/// A rule set that can be chosen.
type Named = (&'static str, fn() -> RuleSet);

/// The rule sets that can be chosen; the first is taken where nothing is said.
const RULE_SETS: &[Named] = &[
    ("delta-spark", RuleSet::delta_spark),
    ("statistics", RuleSet::with_statistics),
    ("delta-spark-4.0.0", RuleSet::delta_spark_4_0_0),
];

/// A choice that does not exist, or under which a scenario cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RuleChoiceError {
    /// No rule set has the name.
    #[error("no rule set is called '{name}'; there {}{}", are(.known), did_you_mean(.meant))]
    Set {
        /// The name.
        name: String,
        /// The nearest name.
        meant: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// There is no such rule or device.
    #[error("{error}{}", did_you_mean(.meant))]
    Rule {
        /// What there is.
        error: UnknownRule,
        /// The nearest id.
        meant: Option<String>,
    },
    /// The scenario cannot run.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

impl RuleChoice {
    /// Names of the rule sets that can be chosen.
    pub fn names() -> impl Iterator<Item = &'static str> {
        RULE_SETS.iter().map(|(name, _)| *name)
    }

    /// A scenario by these rules, for one run of its own.
    ///
    /// # Errors
    /// When there is no such rule set, when it has no such rule, or when the scenario cannot run.
    pub fn setting(
        &self,
        scenario: Scenario,
        clock: Clock,
        granularity: Granularity,
    ) -> Result<Setting, RuleChoiceError> {
        Ok(Setting::new(scenario, self.rule_set()?, String::new(), clock, granularity)?)
    }

    /// The rule set, without what is left out.
    ///
    /// # Errors
    /// When there is no such rule set, or when it has no such rule.
    pub fn rule_set(&self) -> Result<RuleSet, RuleChoiceError> {
        let make = RULE_SETS.iter().find(|(name, _)| *name == self.name).map(|(_, make)| make);
        let whole = make.ok_or_else(|| RuleChoiceError::Set {
            name: self.name.clone(),
            meant: nearest(&self.name, Self::names()).map(str::to_owned),
            known: Self::names().map(str::to_owned).collect(),
        })?();
        let mut rules = whole.clone();
        for id in &self.without {
            rules = rules
                .without(id)
                .map_err(|error| RuleChoiceError::Rule { meant: nearest(id, whole.ids()).map(str::to_owned), error })?;
        }
        Ok(rules)
    }

    /// The flags that make this choice on the command line; none for the default.
    pub fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        if *self.name != *Self::default().name {
            flags.extend(["--rules".to_owned(), self.name.clone()]);
        }
        for id in &self.without {
            flags.extend(["--without".to_owned(), id.clone()]);
        }
        flags
    }
}

impl Default for RuleChoice {
    /// All of `delta-spark`.
    fn default() -> Self {
        Self { name: RULE_SETS[0].0.to_owned(), without: Vec::new() }
    }
}

impl fmt::Display for RuleChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.without.is_empty() {
            write!(f, " without {}", self.without.join(", "))?;
        }
        Ok(())
    }
}

fn are(known: &[String]) -> String {
    let verb = if known.len() == 1 { "is" } else { "are" };
    format!("{verb} {}", known.join(", "))
}

fn did_you_mean(meant: &Option<String>) -> String {
    meant.as_ref().map(|name| format!("; did you mean '{name}'?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(name: &str, without: &[&str]) -> Result<Setting, RuleChoiceError> {
        let scenario = Scenario::parse("[[writer]]\nname = 'a'\nstatements = ['SELECT 1']", "test").unwrap();
        let without = without.iter().map(|id| (*id).to_owned()).collect();
        RuleChoice { name: name.to_owned(), without }.setting(scenario, Clock::PerCall, Granularity::Points)
    }

    #[test]
    fn an_unknown_choice_names_the_nearest() {
        assert_eq!(
            choose("delta-sprak", &[]).unwrap_err().to_string(),
            "no rule set is called 'delta-sprak'; there are delta-spark, statistics, delta-spark-4.0.0; did you mean 'delta-spark'?"
        );
        assert_eq!(
            choose("delta-spark", &["added-file"]).unwrap_err().to_string(),
            "rule set 'delta-spark' has no rule 'added-file'; it has never-rebased, protocol, feature-drop, metadata, \
             domain-metadata, application-transaction, backfill, added-files, removed-and-read, removed-twice, own-commit, put-if-absent; did you mean 'added-files'?"
        );
    }

    #[test]
    fn rules_and_devices_are_left_out() {
        let setting = choose("delta-spark", &["added-files", "own-commit", "put-if-absent"]).unwrap();
        assert_eq!(setting.rules.rules.len(), 9);
        assert!(!setting.rules.recognises_own && !setting.rules.atomic_put);
        let choice = RuleChoice { without: vec!["added-files".to_owned()], ..RuleChoice::default() };
        assert_eq!(choice.to_string(), "delta-spark without added-files");
        assert_eq!(choice.flags(), ["--without", "added-files"]);
    }
}
