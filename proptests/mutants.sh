#!/usr/bin/env bash
# Changes one thing at a time in `conflict/src` and runs the tests of `conflict` alone: mutants.sh [OPTION...]. What no test notices is named at the end and in
# target/mutants/mutants.out/missed.txt. Mutants that were caught are not tried again, so the same command goes on where a run was cut off; remove
# target/mutants to begin anew. Options are those of cargo-mutants, for instance `--file conflict/src/rebase.rs`.
# Needs `cargo install --locked cargo-mutants`.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p target/mutants
# Each mutant is compiled and linked anew, and nobody debugs it.
export CARGO_PROFILE_DEV_DEBUG=0
# A loop that never ends is noticed too.
exec cargo mutants --package conflict --output target/mutants --iterate --minimum-test-timeout 60 --no-shuffle "$@"
