#!/usr/bin/env bash
# Installs a build into a folder of its own and uses it as a stranger would: by pkg-config and by
# CMake, shared and static, from C and, where there is a compiler for it, from C++.
#
#   tests/install/run.sh BUILD_DIR
set -euo pipefail

build=$(cd "${1:?build folder}" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
examples=$root/examples
input=$root/demo/data/flights-30k.arrow
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log" && exit 1; }
# The installed tree must not know where it was installed to.
mv "$work/first" "$work/prefix"
prefix=$work/prefix
version=$(sed -n 's/.*define ASHUF_VERSION_STRING "\(.*\)"/\1/p' "$root/include/ashuf/base.h")

lib=$(dirname "$(find "$prefix" -name libashuf.a)")
export PKG_CONFIG_PATH=$lib/pkgconfig
cc=${CC:-cc}
read -ra cflags < <(pkg-config --cflags ashuf)
read -ra shared_libs < <(pkg-config --libs ashuf)
read -ra static_libs < <(pkg-config --static --libs ashuf | sed 's/-lashuf/-l:libashuf.a/')
strict=(-std=c99 -pedantic -Wall -Wextra -Werror)

# expect TEXT COMMAND...: the command's output
expect() {
  local wanted=$1 got
  shift
  got=$("$@") || { echo "install: $* failed" >&2 && exit 1; }
  [ "$got" = "$wanted" ] || { echo "install: $* printed '$got', not '$wanted'" >&2 && exit 1; }
  echo "install: ${*//$work\//} prints $got"
}

needs() { readelf -d "$1" | grep -q 'NEEDED.*libashuf.so.0'; }

[ "$(pkg-config --modversion ashuf)" = "$version" ] || { echo "install: ashuf.pc has another version" >&2 && exit 1; }

"$cc" "${strict[@]}" "$examples/ten_lines/main.c" "${cflags[@]}" "${shared_libs[@]}" -o "$work/pc_shared"
"$cc" "${strict[@]}" "$examples/ten_lines/main.c" "${cflags[@]}" "${static_libs[@]}" -o "$work/pc_static"
"$cc" "${strict[@]}" "$root/tests/install/clash.c" "${cflags[@]}" "${static_libs[@]}" -o "$work/clash"
expect "ashuf $version" env LD_LIBRARY_PATH="$lib" "$work/pc_shared"
expect "ashuf $version" "$work/pc_static"
expect "no clash" "$work/clash"

cmake -S "$examples" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
  cmake --build "$work/cmake" >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
expect "ashuf $version" "$work/cmake/ten_lines_shared"
expect "ashuf $version" "$work/cmake/ten_lines_static"
for kind in shared static; do
  "$work/cmake/there_and_back_$kind" "$input" origin 8 "$work/$kind.data" "$work/$kind.index"
done | sort | uniq -c | tee "$work/rows"
[ "$(awk '$1 == 2 && $2 == 30000' "$work/rows" | wc -l)" -eq 2 ] || { echo "install: rows got lost" >&2 && exit 1; }
cmp "$work/shared.data" "$work/static.data"
for kind in shared static; do
  expect "30000 rows written
30000 rows read" "$work/cmake/to_buckets_$kind" "$input" origin 8
done

needs "$work/pc_shared" && needs "$work/cmake/ten_lines_shared" || { echo "install: not linked with libashuf.so.0" >&2 && exit 1; }
! needs "$work/pc_static" && ! needs "$work/cmake/ten_lines_static" || { echo "install: not linked statically" >&2 && exit 1; }

if command -v c++ >/dev/null; then
  for header in "$prefix"/include/ashuf/*.h; do
    c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only -x c++ "${cflags[@]}" "$header" 2> >(grep -v 'pragma once' >&2)
  done
  echo "install: every header stands alone in C++11"
fi
[ ! -e "$prefix/bin/ashuf" ] || expect "ashuf $version" "$prefix/bin/ashuf" --version
