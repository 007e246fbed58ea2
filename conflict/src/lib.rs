//! Who may still commit.

pub mod isolation;
