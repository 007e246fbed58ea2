#!/usr/bin/env bash
# Real tables of several scenarios, compared at every version with independent clients: check.sh CONTEND [WORK_DIR]
# Installs the clients (requirements.txt) into target/clients the first time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "${1:?usage: check.sh CONTEND [WORK_DIR]}")
work=${2:-$(mktemp -d)}
mkdir -p "$work"
venv=$here/../../target/clients
stamp=$venv/requirements.txt
if ! cmp -s "$here/requirements.txt" "$stamp"; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$stamp"
fi

tables=()
for scenario in write-conflict insert-only single-writer disjoint-partitions; do
  rm -rf "${work:?}/$scenario"
  "$program" run "@$scenario" --store "$work/$scenario" | tail -n 1
  tables+=("$work/$scenario"/*)
done
# Every type, NULLs and odd partition values.
rm -rf "${work:?}/types"
"$program" run "$here/types.toml" --store "$work/types" | tail -n 1
tables+=("$work/types"/*)
# A second run over a table that is there.
"$program" run @write-conflict --store "$work/write-conflict" --set store.existing=continue | tail -n 1

"$venv/bin/python" "$here/compare.py" "$program" "${tables[@]}"

"$venv/bin/python" "$here/checkpoints.py" "$program" "$here/../../sim/tests/tables" "$work/checkpoints"
