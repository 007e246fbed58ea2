//! The command `checkpoint`.

use std::num::NonZeroUsize;

use clap::Args;
use log_core::checkpoint::{CheckpointId, CheckpointKind};
use sim::maintain::{checkpoint, maintained_json, maintained_text, unique_id};

use super::{
    Report,
    error::{CliError, about},
    output::Output,
    table_at::TableArgument,
};

/// Write a checkpoint, its version checksum and _last_checkpoint
///
/// Nothing of the table changes by it, and readers that know the checkpoint read less. Exit 1 when the feature was added (--add-feature) and the
/// checkpoint could not be written then.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    table: TableArgument,
    /// After the v2 specification, with sidecars; only on tables that have the feature v2Checkpoint.
    #[arg(long)]
    v2: bool,
    /// So many file actions at most in each sidecar.
    #[arg(long, value_name = "N", requires = "v2")]
    sidecar_actions: Option<NonZeroUsize>,
    /// Give the table the feature v2Checkpoint first, by a commit of its own, when it has not got it: clients that do not know it can no longer read the table then.
    #[arg(long, requires = "v2", conflicts_with_all = ["version_as_of", "timestamp_as_of"])]
    add_feature: bool,
    #[command(flatten)]
    output: Output,
}

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<Report, CliError> {
    let (folder, version) = arguments.table.open()?;
    if arguments.add_feature && version.is_some() {
        return Err("--add-feature is for the newest version: leave out what stands behind the @ of the table".into());
    }
    let id = unique_id();
    let kind = match arguments.v2 {
        true => CheckpointKind::V2 { id: CheckpointId(id), actions_per_sidecar: arguments.sidecar_actions },
        false => CheckpointKind::Classic,
    };
    let upgrade = arguments.add_feature.then(|| CheckpointId(id).to_string());
    let directory = folder.directory();
    let done = checkpoint(&mut |request| directory.answer(&request), version, kind, upgrade);
    let done = done.map_err(|error| about(format!("table at '{}'", directory.root().display()))(error.into()))?;
    let text = if arguments.output.json { maintained_json(&done) } else { maintained_text(&done) };
    Ok(Report { text, verdict: done.verdict() })
}
