//! Real threads over real tables in a folder.

#![cfg(feature = "real")]

#[path = "real/support.rs"]
mod support;

#[path = "real/bad_input.rs"]
mod bad_input;
#[path = "real/inspect.rs"]
mod inspect;
#[path = "real/run.rs"]
mod run;
#[path = "real/schedule.rs"]
mod schedule;
#[path = "real/store.rs"]
mod store;
