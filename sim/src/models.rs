//! Small models whose exact figures are known, to show that a search misses nothing.

pub mod put_if_absent;
