#!/usr/bin/env bash
# Runs a command with a Python environment that holds pinned packages first in PATH.
#
#   with_venv.sh VENV_DIR REQUIREMENTS COMMAND...
#
# Where they cannot be had, the system's Python serves if it has them all, of the same versions;
# else the test is skipped, and with CI set it fails.
set -euo pipefail

venv=$1 requirements=$2
shift 2
give_up() {
  echo "$1"
  [ -z "${CI:-}" ] || exit 1
  exit 77
}
# Whether python3 has what the requirements pin.
system_has_all() {
  python3 - "$requirements" <<'EOP'
import importlib.metadata
import sys

for line in open(sys.argv[1]):
    name, _, version = line.strip().partition("==")
    try:
        if name and importlib.metadata.version(name) != version:
            sys.exit(1)
    except importlib.metadata.PackageNotFoundError:
        sys.exit(1)
EOP
}

make_venv() {
  rm -rf "$venv"
  python3 -m venv "$venv" &&
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" &&
    cp "$requirements" "$stamp"
}

stamp=$venv/requirements.txt
if ! cmp -s "$requirements" "$stamp" && ! make_venv; then
  system_has_all || give_up "pip could not install $(tr '\n' ' ' <"$requirements")"
  exec "$@"
fi
export PATH=$venv/bin:$PATH VIRTUAL_ENV=$venv
exec "$@"
