//! The laws, each on cases drawn from the public strategies.

mod laws {
    mod commit_loop;
    mod expressions;
    mod live_files;
    mod logs;
    mod pruning;
    mod worlds;
}
