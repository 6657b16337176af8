#!/usr/bin/env bash
# clang-tidy over the sources of the library and the program, with the compile commands of a build.
#
#   scripts/tidy.sh BUILD_DIR [FILE...]
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build}
shift || true
tool=$(command -v clang-tidy-14 || command -v clang-tidy) || {
  echo "tidy: clang-tidy is missing; run: sudo make deps" >&2
  exit 1
}
files=("$@")
[ "${#files[@]}" -gt 0 ] || mapfile -t files < <(git ls-files 'src/*.c' 'cli/*.c')
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 4 "$tool" --quiet -p "$build" \
  2> >(grep -vE '^[0-9]+ warnings? ' >&2)
