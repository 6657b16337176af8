#!/usr/bin/env bash
# Runs a command with a Python environment that holds pinned packages first in PATH.
#
#   with_venv.sh VENV_DIR REQUIREMENTS COMMAND...
#
# Where the packages cannot be had the test is skipped; with CI set it fails.
set -euo pipefail

venv=$1 requirements=$2
shift 2
give_up() {
  echo "$1"
  [ -z "${CI:-}" ] || exit 1
  exit 77
}
stamp=$venv/requirements.txt
if ! cmp -s "$requirements" "$stamp"; then
  rm -rf "$venv"
  python3 -m venv "$venv" || give_up "python3 -m venv failed"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" ||
    give_up "pip could not install $(tr '\n' ' ' <"$requirements")"
  cp "$requirements" "$stamp"
fi
export PATH=$venv/bin:$PATH VIRTUAL_ENV=$venv
exec "$@"
