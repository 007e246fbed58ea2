//! From a time to a version: "time travel".
//!
//! A text becomes an [`Instant`], in a [`Zone`] where it names none. The commits of a log have times ([`InCommitTimestamps`] where the table has
//! them, else the repaired times of their files, [`file_times`]), and [`ResolveTime`] finds the newest commit that is not younger than the instant.
//! Which versions can still be rebuilt is said by [`Extent`].

mod commit_time;
mod extent;
mod instant;
mod resolve;
mod zone;

pub use commit_time::{InCommitTimestamps, PropertyError, file_times};
pub use extent::Extent;
pub use instant::{Instant, InstantError};
pub use resolve::{ResolveTime, TimeTravelError};
pub use zone::{Zone, ZoneError};

#[cfg(test)]
mod tests;
