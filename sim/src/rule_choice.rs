//! Rule sets by name: what `--rules` and `--without` choose, and what a failure file keeps of that.

use std::fmt;

use conflict::rules::{RuleSet, UnknownRule};

use crate::sql::nearest::nearest;

/// A rule set of this program, and the rules of it that are left out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RuleChoice {
    /// The name of the rule set.
    pub name: String,
    /// Ids of the rules that are left out, in order and each once.
    pub without: Vec<String>,
}

/// A rule set that can be chosen.
type Named = (&'static str, fn() -> RuleSet);

/// The rule sets that can be chosen; the first is taken where nothing is said.
const RULE_SETS: &[Named] = &[("delta-spark", RuleSet::delta_spark)];

/// A choice that does not exist.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
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
    /// The rule set has no such rule.
    #[error("{error}{}", did_you_mean(.meant))]
    Rule {
        /// What the rule set says.
        error: UnknownRule,
        /// The nearest id.
        meant: Option<String>,
    },
}

impl RuleChoice {
    /// Names of the rule sets that can be chosen.
    pub fn names() -> impl Iterator<Item = &'static str> {
        RULE_SETS.iter().map(|(name, _)| *name)
    }

    /// Looks a rule set up and takes rules out of it.
    ///
    /// # Errors
    /// When there is no such rule set, or no such rule in it.
    pub fn rule_set(&self) -> Result<RuleSet, RuleChoiceError> {
        let make = RULE_SETS.iter().find(|(name, _)| *name == self.name).map(|(_, make)| make);
        let whole = make.ok_or_else(|| RuleChoiceError::Set {
            name: self.name.clone(),
            meant: nearest(&self.name, Self::names()).map(str::to_owned),
            known: Self::names().map(str::to_owned).collect(),
        })?();
        let mut rules = whole.clone();
        for id in &self.without {
            rules = rules.without(id).map_err(|error| RuleChoiceError::Rule {
                meant: nearest(id, whole.ids()).map(str::to_owned),
                error,
            })?;
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

    fn refusal(name: &str, without: &[&str]) -> String {
        let without = without.iter().map(|id| (*id).to_owned()).collect();
        RuleChoice { name: name.to_owned(), without }.rule_set().unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_choice_names_the_nearest() {
        assert_eq!(
            refusal("delta-sprak", &[]),
            "no rule set is called 'delta-sprak'; there is delta-spark; did you mean 'delta-spark'?"
        );
        assert_eq!(
            refusal("delta-spark", &["added-file"]),
            "rule set 'delta-spark' has no rule 'added-file'; it has protocol, metadata, added-files, removed-and-read, \
             removed-twice, own-commit, put-if-absent; did you mean 'added-files'?"
        );
    }

    #[test]
    fn rules_are_left_out() {
        let choice = RuleChoice { without: vec!["added-files".to_owned()], ..RuleChoice::default() };
        assert_eq!(choice.rule_set().unwrap().rules.len(), 4);
        assert_eq!(choice.to_string(), "delta-spark without added-files");
        assert_eq!(choice.flags(), ["--without", "added-files"]);
    }
}
