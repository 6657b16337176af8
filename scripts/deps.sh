#!/usr/bin/env bash
# Packages of Debian and Ubuntu that a task needs: installs what is missing as root, and says the
# one command to run otherwise.
#
#   scripts/deps.sh build|test|ci [--list]
set -euo pipefail

task=${1:-build}
list_only=${2:-}

build=(gcc libc6-dev make cmake ninja-build pkg-config
  liblz4-dev libzstd-dev libsnappy-dev libisal-dev libjansson-dev)
# cargo and npm, which two scripts of tests/interop use where they are there, are left to the user.
test=(libcmocka-dev python3 python3-venv)

# The newest package of a versioned family that this release has is the wrong one for formatting:
# clang-format's output changes with its version, so 14 goes first.
ci_packages() {
  local clang_version name
  clang_version=$(apt-cache depends clang 2>/dev/null | grep -oE 'clang-[0-9]+' | head -1 | cut -d- -f2)
  echo clang "libclang-rt-${clang_version:-14}-dev" gcc-aarch64-linux-gnu libc6-dev-arm64-cross
  for name in clang-format clang-tidy; do
    if apt-cache show "$name-14" >/dev/null 2>&1; then echo "$name-14"; else echo "$name"; fi
  done
}

is_installed() {
  case "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null)" in *' ok installed') return 0 ;; esac
  # Tools may come from elsewhere than a package.
  case $1 in
    gcc | make | cmake | python3) command -v "$1" >/dev/null ;;
    ninja-build) command -v ninja >/dev/null ;;
    pkg-config) command -v pkg-config >/dev/null ;;
    python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
    *) return 1 ;;
  esac
}

find_missing() {
  missing=()
  local one
  for one in "${packages[@]}"; do
    is_installed "$one" || missing+=("$one")
  done
}

packages=("${build[@]}")
case $task in
  build) ;;
  test) packages+=("${test[@]}") ;;
  ci) packages+=("${test[@]}") ;;
  *) echo "usage: scripts/deps.sh build|test|ci [--list]" >&2 && exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "Not a Debian or Ubuntu system; make sure that these, by your system's names, are here: ${packages[*]}"
  exit 0
fi

# Without package lists apt-cache knows nothing of the versions that ci asks for.
have_lists() { [ -n "$(find /var/lib/apt/lists -name '*Packages*' -print -quit 2>/dev/null)" ]; }
updated=
update_lists() {
  [ -z "$updated" ] || return 0
  apt-get update -qq
  updated=yes
}
if [ "$task" = ci ]; then
  [ "$(id -u)" -ne 0 ] || have_lists || update_lists
  mapfile -t -O "${#packages[@]}" packages < <(ci_packages | tr ' ' '\n')
fi
if [ "$list_only" = --list ]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi

find_missing
[ "${#missing[@]}" -gt 0 ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
  echo "Missing packages: ${missing[*]}" >&2
  echo "Run: sudo make deps" >&2
  exit 1
fi

echo "Installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install_missing() { apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1; }
have_lists || update_lists
# Old lists name files that the mirror no longer has: a second try with fresh ones.
install_missing || { update_lists && install_missing; } || {
  cat "$log" >&2
  exit 1
}
find_missing
[ "${#missing[@]}" -eq 0 ] || { echo "Still missing: ${missing[*]}" >&2 && exit 1; }
