//! The program as its users meet it: what it prints, and how it exits.

mod cli {
    mod bad_input;
    mod explore;
    mod judge;
    mod run;
    mod support;
}
