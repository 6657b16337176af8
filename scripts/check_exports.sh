#!/usr/bin/env bash
# The symbols that the libraries export are exactly the functions that the public headers declare
# with ASHUF_API, and exactly the committed list.
#
#   scripts/check_exports.sh BUILD_DIR    compare; NM names the nm to use
#   scripts/check_exports.sh --update     write cmake/exports.txt from the headers
#   scripts/check_exports.sh --self-test
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C

committed=cmake/exports.txt
nm=${NM:-nm}

declared() { # headers on standard input
  tr '\n' ' ' | grep -oE 'ASHUF_API [^;(]*\(' | grep -oE 'ashuf_[a-z0-9_]+ *\($' | tr -d ' (' | sort
}

defined() { awk 'NF == 3 && $2 ~ /[A-TV-Z]/ { print $3 }' | sort; } # nm's lines on standard input

# compare NAME WANTED_FILE FOUND_FILE
compare() {
  local missing extra
  missing=$(comm -23 "$2" "$3")
  extra=$(comm -13 "$2" "$3")
  [ -z "$missing" ] || sed "s|^|exports: $1 lacks |" <<<"$missing" >&2
  [ -z "$extra" ] || sed "s|.*|exports: $1 has &, which it should not|" <<<"$extra" >&2
  [ -z "$missing$extra" ]
}

self_test() {
  local dir
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' RETURN
  printf '%s\n' '#define ASHUF_API __attribute__((x("y")))' 'ASHUF_API int ashuf_b(void);' \
    'ASHUF_API const char *' '    ashuf_a(int (*f)(void));' 'int ashuf_private(void);' | declared >"$dir/declared"
  printf '%s\n' '00 t hidden' '   U malloc' '00 D leaked' | defined >"$dir/defined"
  [ "$(tr '\n' ' ' <"$dir/declared")" = 'ashuf_a ashuf_b ' ] &&
    [ "$(compare lib "$dir/declared" "$dir/defined" 2>&1 | tr '\n' ';')" = \
      'exports: lib lacks ashuf_a;exports: lib lacks ashuf_b;exports: lib has leaked, which it should not;' ] &&
    ! compare lib "$dir/declared" "$dir/defined" 2>/dev/null &&
    compare lib "$dir/declared" "$dir/declared"
}

case ${1:-build} in
  --self-test)
    self_test || { echo "check_exports: self-test failed" >&2 && exit 1; }
    exit 0
    ;;
  --update)
    cat include/ashuf/*.h | declared >$committed
    exit 0
    ;;
esac

build=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
good=yes
cat include/ashuf/*.h | declared >"$work/declared"
compare "$committed" "$work/declared" $committed || {
  echo "exports: after a wanted change of the headers run scripts/check_exports.sh --update" >&2
  good=
}
if [ -e "$build/libashuf.so" ]; then
  "$nm" -D --defined-only "$build/libashuf.so" | defined >"$work/shared"
  compare libashuf.so "$work/declared" "$work/shared" || good=
fi
"$nm" -g --defined-only "$build/libashuf.a" | defined >"$work/static"
compare libashuf.a "$work/declared" "$work/static" || good=
[ -n "$good" ] || exit 1
echo "exports: $(wc -l <"$work/declared") functions, as declared"
