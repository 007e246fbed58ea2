//! What the fuzz targets have in common.

use std::{panic, sync::Once};

static HOOK: Once = Once::new();

/// Runs a target. libFuzzer's hook ends the process at every panic, also at those of the Parquet crate that readers catch and tell as errors; here only one
/// that nobody caught counts.
pub fn quietly(target: fn(&[u8]), bytes: &[u8]) {
    HOOK.call_once(|| panic::set_hook(Box::new(|_| {})));
    if let Err(payload) = panic::catch_unwind(|| target(bytes)) {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        eprintln!("panicked: {text}");
        std::process::abort();
    }
}
