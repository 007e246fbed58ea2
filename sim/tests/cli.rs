//! The program as its users meet it: what it prints, and how it exits.

mod cli {
    mod bad_input;
    mod check;
    mod checkpoint;
    mod explore;
    mod interrupt;
    mod judge;
    mod paths;
    mod read;
    mod run;
    mod support;
    mod time_travel;
}
