//! `--compare`: the same command with a second setting, side by side.

use clap::Parser;
use serde_json::{Value, json};
use sim::report::{Style, Verdict, side_by_side};

use super::{
    Report,
    arguments::ScenarioArguments,
    error::{CliError, about},
    output::Output,
};

/// The flags of the second setting.
#[derive(Debug, Parser)]
#[command(name = "--compare", disable_help_flag = true)]
struct Second {
    #[command(flatten)]
    scenario: ScenarioArguments,
}

/// Runs a command for its own setting, and for the second one if `--compare` names its flags.
pub fn run(
    scenario: &ScenarioArguments,
    output: &Output,
    command: &mut dyn FnMut(&ScenarioArguments, Style) -> Result<Report, CliError>,
) -> Result<Report, CliError> {
    let style = output.style();
    let Some(flags) = &scenario.compare else { return command(scenario, style) };
    let second = second(scenario, flags)?;
    let half = Style { width: style.width.saturating_sub(3) / 2, color: false };
    let first = command(scenario, half)?;
    let other = command(&second, half)?;
    let verdict = first.verdict.max(other.verdict);
    let text = if output.json {
        document(&first.text, &other.text, flags, verdict)?
    } else {
        let titles = ("as given".to_owned(), format!("with {flags}"));
        let text = side_by_side(&titles, &first.text, &other.text, half.width);
        format!("{text}{}", verdict.line([], style))
    };
    Ok(Report { text, verdict })
}

/// The setting of the command with the flags of the second one over it.
fn second(scenario: &ScenarioArguments, flags: &str) -> Result<ScenarioArguments, CliError> {
    let words = shlex::split(flags).ok_or_else(|| format!("--compare '{flags}': a quotation mark is not closed"))?;
    let words = ["--compare".to_owned(), scenario.scenario.clone()].into_iter().chain(words);
    let over = Second::try_parse_from(words).map_err(|error| {
        let text = error.render().to_string();
        let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        about(format!("--compare '{flags}'"))(line.into())
    })?;
    if over.scenario.compare.is_some() {
        return Err(
            format!("--compare '{flags}': there are two columns, so --compare cannot stand inside itself").into()
        );
    }
    Ok(scenario.with(&over.scenario))
}

/// The first document, with the second one under `compared`.
fn document(first: &str, other: &str, flags: &str, verdict: Verdict) -> Result<String, CliError> {
    let read = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| about("--json")(error.into()));
    let (mut first, other) = (read(first)?, read(other)?);
    first["verdict"] = json!(verdict.name());
    first["compared"] = json!({ "flags": flags, "document": other });
    Ok(format!("{first:#}\n"))
}
