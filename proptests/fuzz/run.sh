#!/usr/bin/env bash
# Runs every fuzz target for so many minutes: run.sh MINUTES [TARGET...]. The corpus stays in proptests/fuzz/corpus, so a run goes on where the last one
# stopped; the first begins with files of real tables. Needs `cargo install --locked cargo-fuzz`; works on stable.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:?usage: run.sh MINUTES [TARGET...]}
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  targets=(commit_lines checkpoint deletion_vector statistics paths time_text)
fi
# seed TARGET FIRST_BYTES FILE...: files as inputs, behind the bytes that choose what they are taken for.
seed() {
  local corpus="fuzz/corpus/$1" head=$2 file
  shift 2
  mkdir -p "$corpus"
  for file in "$@"; do
    local name
    name="seed-$(printf '%s' "$head$file" | cksum | cut -d ' ' -f 1)"
    [ -e "$corpus/$name" ] || { printf "$head"; head -c 16384 "$file"; } > "$corpus/$name"
  done
}
files() { find ../sim/tests/tables -path "$1" -size -16k | LC_ALL=C sort; }
mapfile -t commits < <(files '*/_delta_log/0*[0-9].json')
mapfile -t json < <(files '*.checkpoint.*.json')
mapfile -t parquet < <(files '*_delta_log*.parquet')
mapfile -t vectors < <(files '*deletion_vector*.bin')
seed commit_lines '' "${commits[@]}"
seed checkpoint '\000' "${json[@]}"
seed checkpoint '\001' "${parquet[@]}"
seed checkpoint '\002' "${parquet[@]}"
seed deletion_vector '\001\001\050\000\000\000' "${vectors[@]}"
for text in '{"numRecords":3,"minValues":{"long":1,"timestamp":"2024-01-01T00:00:00.000Z"},"nullCount":{"long":0}}'; do
  mkdir -p fuzz/corpus/statistics && printf '%s' "$text" > fuzz/corpus/statistics/seed
done
mkdir -p fuzz/corpus/paths fuzz/corpus/time_text
printf 'p=New%%2520Town/%%2e%%2e/part.parquet' > fuzz/corpus/paths/seed
printf 'Europe/Berlin|2025-03-30 02:30:00.123' > fuzz/corpus/time_text/seed
for target in "${targets[@]}"; do
  echo "== $target, $minutes min"
  cargo fuzz run "$target" -s none -- -max_total_time=$((minutes * 60)) -max_len=16384 -rss_limit_mb=1024 \
    -malloc_limit_mb=256 -timeout=10 -print_final_stats=1
done
