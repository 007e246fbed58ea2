//! A net below readers that break down.

use std::{
    cell::Cell,
    panic::{UnwindSafe, catch_unwind},
};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Is this thread about work whose panics are caught? A program's panic hook has nothing to say of those: they become errors.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// Does the work. Where it panics, as the Parquet crate does when damaged bytes send it outside of its buffers, the answer is what the panic
/// said. The panic hook of the program still hears of it, and can ask [`is_guarded`].
pub(crate) fn guarded<T>(work: impl FnOnce() -> T + UnwindSafe) -> Result<T, String> {
    let outer = GUARDED.replace(true);
    let result = catch_unwind(work);
    GUARDED.set(outer);
    result.map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
    })
}
