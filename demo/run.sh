#!/usr/bin/env bash
# Shuffles 30,000 real flights to eight partitions by airport, reads them back, and compares.
#
#   demo/run.sh [PROGRAM] [OUTPUT_DIR]
set -euo pipefail
cd "$(dirname "$0")/.."

ashuf=${1:-build/ashuf}
out=${2:-demo/out}
input=demo/data/flights-30k.arrow
export LC_ALL=C

say() { printf '\n$ %s\n' "$*"; }
run() {
  say "$@"
  "$@"
}

rm -rf "$out"
mkdir -p "$out"
run "$ashuf" write $input -o "$out" --partitions 8 --hash origin --codec lz4
run "$ashuf" info "$out"
run "$ashuf" verify "$out"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say "$ashuf" cat "$out" --format csv
"$ashuf" cat "$out" --format csv >"$work/back.csv"
head -4 "$work/back.csv"
echo "..."
"$ashuf" cat $input --format csv >"$work/input.csv"

# The rows come back partition by partition: the order differs, the rows must not.
for one in input back; do
  head -1 "$work/$one.csv" >"$work/$one.sorted"
  tail -n +2 "$work/$one.csv" | sort >>"$work/$one.sorted"
done
rows() { echo $(($(wc -l <"$1") - 1)); }
size() { cat "$@" | wc -c; }
printf '\n%-28s %10s %12s\n' "" rows bytes
printf '%-28s %10d %12d\n' "$input" "$(rows "$work/input.csv")" "$(size $input)"
printf '%-28s %10d %12d\n' "$out" "$(rows "$work/back.csv")" "$(size "$out"/*)"
if ! cmp -s "$work/input.sorted" "$work/back.sorted"; then
  diff "$work/input.sorted" "$work/back.sorted" | head -10
  echo "the rows differ"
  exit 1
fi
[ "$(rows "$work/input.csv")" -eq 30000 ] || { echo "the input does not have its 30000 rows" && exit 1; }
echo "the rows are the same"
