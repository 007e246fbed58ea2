//! The report of a failure that was made smaller.

use super::{
    Style,
    grid::{Align, Grid},
    replay,
    text::paragraph,
};
use crate::{failure::Replayed, shrink::Shrunk};

/// The whole report: what was dropped, what is left, and its schedule. `file` is where the smaller failure was written, if that is to be shown.
pub fn shrink(shrunk: &Shrunk, replayed: &Replayed, file: Option<&str>, style: Style) -> String {
    let mut grid = Grid::new([("", Align::Left), ("before", Align::Right), ("after", Align::Right)]);
    let (before, after) = (shrunk.before, shrunk.after);
    for (what, before, after) in [
        ("writers", before.writers, after.writers),
        ("statements", before.statements, after.statements),
        ("rows", before.rows, after.rows),
        ("steps", before.steps, after.steps),
    ] {
        grid.row([what.to_owned(), before.to_string(), after.to_string()]);
    }
    let mut text = grid.render(0, style.width);
    let last = match shrunk.shortest {
        true => "No shorter schedule of what is left shows the violation: all of them were searched.",
        false => "Whether a shorter schedule shows it too is open: the search for one was stopped by its memory bound.",
    };
    text.push_str(&paragraph("", &format!("{} scenarios were tried. {last}", shrunk.tried), style.width));
    text.push_str("\nwhat is left:\n");
    for line in shrunk.failure.scenario.to_string().lines() {
        text.push_str(&format!("    {line}\n"));
    }
    if let Some(file) = file {
        text.push_str(&format!("\nagain with: contend replay {file}\n"));
    }
    text.push('\n');
    text.push_str(&replay::replay(&shrunk.failure, replayed, style));
    text
}
