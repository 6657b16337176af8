#!/usr/bin/env bash
# Formats the C files that git knows, or with --check only says which are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

# Output differs between versions of clang-format; 14 is the one that CI holds the tree to.
tool=$(command -v clang-format-14 || command -v clang-format) || {
  echo "format: clang-format is missing; run: sudo make deps" >&2
  exit 1
}
mode=(-i)
[ "${1:-}" = --check ] && mode=(--dry-run -Werror)
git ls-files -z '*.c' '*.h' | xargs -0 --no-run-if-empty "$tool" "${mode[@]}"
