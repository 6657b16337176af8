#!/bin/sh
# Is the folder of vectors and files there, which many tests compare with? Where it is not, those
# tests skip themselves: good on a laptop, a silent hole in CI.
if [ -z "${ASHUF_TEST_DATA:-}" ] && [ -z "${CI:-}" ]; then
  echo "ASHUF_TEST_DATA is not set: tests that need the vectors are skipped"
  exit 77
fi
if [ ! -d "${ASHUF_TEST_DATA:-}" ]; then
  echo "ASHUF_TEST_DATA (${ASHUF_TEST_DATA:-unset}) is not a folder"
  exit 1
fi
for one in data vectors; do
  [ -d "$ASHUF_TEST_DATA/$one" ] || { echo "$ASHUF_TEST_DATA/$one is missing" && exit 1; }
done
