//! `contend judge`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use sim::{
    conflict_case::{Case, judge},
    report::judge::{Judged, json, text, verdict},
    rule_choice::RuleChoice,
};

use super::{
    Report,
    error::{CliError, about},
    output::Output,
};

/// Judge conflict cases: a table, a transaction, the commits that came first, and the verdict that is expected
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Case files; of a folder all *.json, also in folders within it.
    #[arg(value_name = "CASE", required = true)]
    cases: Vec<PathBuf>,
    /// The rule set.
    #[arg(long, value_name = "NAME", default_value_t = RuleChoice::default().name)]
    rules: String,
    /// Leave a rule out; may be given several times.
    #[arg(long, value_name = "RULE")]
    without: Vec<String>,
    /// Say of each conflict which rule found what, whether to try again, and what would avoid it.
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  contend judge conflict/tests/cases
  contend judge conflict/tests/cases/two_creators_of_one_table_conflict.json --explain
  contend judge conflict/tests/cases --without added-files

Exit: 0 when every case comes out as it expects; 1 when one does not; 2 when one cannot be read.";

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<Report, CliError> {
    let mut without = arguments.without.clone();
    without.sort();
    without.dedup();
    let choice = RuleChoice { name: arguments.rules.clone(), without };
    let rules = choice.rule_set()?;
    let mut files = Vec::new();
    for path in &arguments.cases {
        let before = files.len();
        collect(path, &mut files)?;
        if files.len() == before {
            return Err(format!("{}: there is no case in this folder; cases are *.json files", path.display()).into());
        }
    }
    let mut judged = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let result = fs::read_to_string(&file).map_err(CliError::from).and_then(|text| {
            let case = Case::parse(&text)?;
            let verdict = judge(&case, &rules)?;
            Ok(Judged { file: name.clone(), name: case.name, verdict })
        });
        judged.push(result.map_err(about(name.clone()))?);
    }
    let text = match arguments.output.json {
        true => json(&judged, &choice),
        false => text(&judged, &choice, arguments.explain, arguments.output.style()),
    };
    Ok(Report { text, verdict: verdict(&judged) })
}

/// Adds a file, or the cases of a folder in order of their names. Links to folders are not followed: they may lead in circles.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let named = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("{}: no such file; a case is a *.json file, or a folder of them", path.display()).into()
        }
        _ => about(path.display().to_string())(error.into()),
    };
    let kind = fs::metadata(path).map_err(named)?.file_type();
    if kind.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    if !kind.is_dir() {
        return Err(format!("{}: it is neither a file nor a folder; a case is a *.json file", path.display()).into());
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(named)? {
        let entry = entry.map_err(named)?;
        entries.push((entry.path(), entry.file_type().map_err(named)?));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    for (path, kind) in entries {
        let is_case = path.extension().is_some_and(|extension| extension == "json") && !path.is_dir();
        if kind.is_dir() || is_case {
            collect(&path, files)?;
        }
    }
    Ok(())
}
