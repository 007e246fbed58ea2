//! The laws, each on cases drawn from the public strategies.

mod laws {
    #[cfg(not(loom))]
    mod checkpoint;
    mod commit_loop;
    mod conflict;
    mod expressions;
    mod live_files;
    mod logs;
    mod pruning;
    mod worlds;
}
