//! The program `contend`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
