#!/usr/bin/env bash
# Runs every fuzz target of a fuzz build for a while, one after another; stops at the first finding.
#
#   fuzz/run.sh <build folder> [target...]
#
# FUZZ_SECONDS   for each target (default 60)
# What is found and learnt stays in <build folder>/fuzz: corpus/<target>, and crash-* files.
set -euo pipefail

build=$(realpath "$1")
shift
source=$(cd "$(dirname "$0")" && pwd)
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(block_decode metadata codec index ipc_file round_trip)

for target in "${targets[@]}"; do
  name=fuzz_$target
  work=$build/fuzz/corpus/$name
  mkdir -p "$work"
  python3 "$source/seeds.py" "$name" "$build/fuzz/seeds/$name"
  echo "== $name"
  (cd "$build/fuzz" && "./$name" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=65536 -timeout=20 \
    -rss_limit_mb=2048 -print_final_stats=1 -verbosity="${FUZZ_VERBOSITY:-1}" \
    "$work" "$source/corpus/$name" "seeds/$name")
done
