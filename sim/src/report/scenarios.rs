//! The list of scenarios that are built in.

use super::{Style, text::paragraph};
use crate::scenario::Shipped;

/// Names, and what each scenario shows.
pub fn scenarios(shipped: &[Shipped], style: Style) -> String {
    let mut text = String::new();
    for scenario in shipped {
        text.push_str(&style.heading(&format!("@{}", scenario.name)));
        text.push_str(&paragraph("  ", scenario.summary, style.width));
    }
    text
}
