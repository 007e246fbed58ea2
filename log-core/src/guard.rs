//! A net below readers that break down.

use std::panic::{UnwindSafe, catch_unwind};

/// Does the work. Where it panics, as the Parquet crate does when damaged bytes send it outside of its buffers, the answer is what the panic
/// said. The panic hook of the program still hears of it.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T + UnwindSafe) -> Result<T, String> {
    catch_unwind(work).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
    })
}
