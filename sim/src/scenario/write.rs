//! A [`Scenario`] to TOML that reads back as the same scenario.

use std::fmt::{self, Display};

use toml::Value;

use super::{Existing, Faults, OnConflict, PutEffect, Range, Scenario, SqlText};

impl Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "name = {}", quoted(&self.name))?;
        if let Some(level) = self.isolation {
            writeln!(f, "isolation = {}", quoted(&level.to_string()))?;
        }
        list(f, "setup", self.setup.iter().map(|SqlText { text, .. }| text.clone()))?;
        if let Some(schedule) = &self.schedule {
            list(f, "schedule", schedule.iter().map(|pinned| format!("{}.{}", pinned.writer, pinned.step.name())))?;
        }
        for writer in &self.writers {
            writeln!(f, "\n[[writer]]\nname = {}", quoted(&writer.name))?;
            list(f, "statements", writer.statements.iter().map(|SqlText { text, .. }| text.clone()))?;
            match writer.on_conflict {
                OnConflict::Continue => writeln!(f, "on_conflict = \"continue\"")?,
                OnConflict::Stop => writeln!(f, "on_conflict = \"stop\"")?,
                OnConflict::Retry(times) => writeln!(f, "on_conflict = {{ retry = {times} }}")?,
            }
            writeln!(f, "commit_retries = {}", writer.commit_retries)?;
        }
        let latency = &self.store.latency;
        match latency.profile() {
            Some(name) => writeln!(f, "\n[store]\nlatency = {}", quoted(name))?,
            None => writeln!(
                f,
                "\n[store]\nlatency = {{ put_ms = {:?}, get_ms = {:?}, list_ms = {:?}, compute_ms = {:?} }}",
                latency.put_ms, latency.get_ms, latency.list_ms, latency.compute_ms
            )?,
        }
        faults(f, "fault_rate", &self.store.fault_rate, |parts| {
            format!("{}.{:06}", parts.0 / 1_000_000, parts.0 % 1_000_000)
        })?;
        faults(f, "fault_budget", &self.store.fault_budget, u32::to_string)?;
        match self.store.put_effect {
            PutEffect::End => writeln!(f, "put_effect = \"end\"")?,
            PutEffect::Middle => writeln!(f, "put_effect = \"middle\"")?,
        }
        match self.store.existing {
            Existing::Refuse => writeln!(f, "existing = \"refuse\"")?,
            Existing::Continue => writeln!(f, "existing = \"continue\"")?,
        }
        if let Some(Range { min, max }) = self.expect.committed {
            let ends =
                [("min", min), ("max", max)].into_iter().filter_map(|(key, end)| Some(format!("{key} = {}", end?)));
            writeln!(f, "\n[expect]\ncommitted = {{ {} }}", ends.collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn list(f: &mut fmt::Formatter<'_>, key: &str, texts: impl Iterator<Item = String>) -> fmt::Result {
    writeln!(f, "{key} = [")?;
    for text in texts {
        writeln!(f, "  {},", quoted(&text))?;
    }
    writeln!(f, "]")
}

/// The faults that are not zero; nothing if there are none.
fn faults<T: Default + PartialEq>(
    f: &mut fmt::Formatter<'_>,
    key: &str,
    faults: &Faults<T>,
    show: impl Fn(&T) -> String,
) -> fmt::Result {
    let shown: Vec<String> = faults
        .iter()
        .filter(|(_, value)| **value != T::default())
        .map(|(kind, value)| format!("{kind} = {}", show(value)))
        .collect();
    if shown.is_empty() { Ok(()) } else { writeln!(f, "{key} = {{ {} }}", shown.join(", ")) }
}
