//! Judges a history. Never calls the conflict rules, the rebase or the executor.
