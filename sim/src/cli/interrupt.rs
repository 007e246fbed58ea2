//! Ctrl-C ends long work early, with a report of what was done.

use std::{
    process,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// Becomes true when the user presses Ctrl-C; a second time ends the program. The flag is one for the whole program: with `--compare`, the second
/// setting is not begun in vain.
pub fn interrupted() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let install = || {
        let flag = Arc::new(AtomicBool::new(false));
        let handler = flag.clone();
        // Without a handler Ctrl-C ends the program, which is no worse than no report.
        let _ = ctrlc::set_handler(move || {
            if handler.swap(true, Ordering::Relaxed) {
                process::exit(130);
            }
        });
        flag
    };
    FLAG.get_or_init(install).clone()
}
