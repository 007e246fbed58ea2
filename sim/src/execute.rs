//! Statements on Arrow batches.
