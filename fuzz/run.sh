#!/usr/bin/env bash
# Runs every fuzz target of a fuzz build for a while, two at a time; fails if one finds something.
#
#   fuzz/run.sh <build folder> [target...]
#
# FUZZ_SECONDS   for each target (default 60)
# What is found and learnt stays in <build folder>/fuzz: corpus/<target>, <target>.log, and
# <target>-crash-*, -timeout-*, -oom-* files: the inputs, which the target takes as an argument.
set -euo pipefail

build=$(realpath "$1")
shift
source=$(cd "$(dirname "$0")" && pwd)
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  targets=(block_decode round_trip decode_options ipc_file metadata codec index)
fi

# fuzz TARGET: one line of figures, or the end of the log and a failure
fuzz() {
  local target=$1 name=fuzz_$1 committed=$source/corpus/fuzz_$1
  local work=$build/fuzz/corpus/$name log=$build/fuzz/$target.log known=()
  mkdir -p "$work"
  python3 "$source/seeds.py" "$name" "$build/fuzz/seeds/$name"
  case $target in
    decode_options) committed=$source/corpus/fuzz_block_decode ;&
    block_decode | round_trip) known=("$source/../tests/ref/findings") ;;
  esac
  if ! (cd "$build/fuzz" && "./$name" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=65536 \
    -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$target-" \
    "$work" "$committed" "seeds/$name" ${known[@]+"${known[@]}"}) >"$log" 2>&1; then
    printf '== %s found something; the end of %s:\n' "$name" "$log"
    tail -n 60 "$log"
    return 1
  fi
  printf '== %-18s %9s executions, %5s edges, %4s MiB at most\n' "$name" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)" \
    "$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")"
}

failed=0
for ((i = 0; i < ${#targets[@]}; i += 2)); do
  fuzz "${targets[i]}" &
  first=$!
  if ((i + 1 < ${#targets[@]})); then fuzz "${targets[i + 1]}" || failed=1; fi
  wait "$first" || failed=1
done
exit $failed
