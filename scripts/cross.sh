#!/usr/bin/env bash
# Compiles every source of the library for aarch64 and makes the static library, whose exported
# names are checked. Of the dependencies only headers are needed, and those do not depend on the
# machine: a folder of links keeps the host's C library headers out of the search path.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build-aarch64
headers=$PWD/$build/headers
rm -rf "$headers"
mkdir -p "$headers"
for one in lz4 lz4frame lz4hc zstd zstd_errors zdict snappy-c snappy-stubs-public isa-l; do
  [ ! -e "/usr/include/$one.h" ] || ln -s "/usr/include/$one.h" "$headers/"
done
[ ! -d /usr/include/isa-l ] || ln -s /usr/include/isa-l "$headers/"

cmake -S . -B $build -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64-linux-gnu.cmake" \
  -DASHUF_CROSS_HEADERS="$headers" -DASHUF_WERROR=ON
cmake --build $build
NM=aarch64-linux-gnu-nm scripts/check_exports.sh $build
