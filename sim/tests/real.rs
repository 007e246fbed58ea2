//! Real threads over real tables in a folder.

#![cfg(feature = "real")]

#[path = "real/support.rs"]
mod support;

#[path = "real/run.rs"]
mod run;
