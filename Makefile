# The documented commands. CMake does the work; this file names it.
#
#   make           what is missing is installed (as root), then the library and the program, in build/
#   make demo      shuffles real rows to a folder and back
#   make test      builds and runs the tests
#   make help      all targets

BUILD ?= build
CMAKE_FLAGS ?=
CONFIGURE = cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS)

.PHONY: all deps build demo test check bench bench-shuffle sanitize fuzz cross install clean help

all: build

deps: ## install every package that building, testing and checking need (as root)
	@scripts/deps.sh ci

build: ## the library and the program
	@scripts/deps.sh build
	@test -f $(BUILD)/CMakeCache.txt || $(CONFIGURE) -DASHUF_BUILD_TESTS=OFF
	@cmake --build $(BUILD)

demo: build ## shuffle real rows to a folder and back, and compare them
	@demo/run.sh $(BUILD)/ashuf

test: ## build and run the tests
	@scripts/deps.sh test
	@$(CONFIGURE) -DASHUF_BUILD_TESTS=ON
	@cmake --build $(BUILD)
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j 2

check: ## formatting, static analysis, layers, error sites, exported symbols
	@scripts/deps.sh ci
	@$(CONFIGURE) -DASHUF_BUILD_TESTS=ON
	@cmake --build $(BUILD)
	@scripts/format.sh --check
	@scripts/check_layers.py --self-test && scripts/check_layers.py
	@scripts/check_sites.py --self-test && scripts/check_sites.py
	@scripts/check_exports.sh --self-test && scripts/check_exports.sh $(BUILD)
	@scripts/tidy.sh $(BUILD)

bench: build ## time one block at a time, beside memcpy and the raw codecs
	@$(BUILD)/bench_block $(BENCH_ARGS)

bench-shuffle: build ## time the whole writer on TPC-H lineitem (network), into docs/PERFORMANCE.md
	@bench/shuffle --build $(BUILD) $(BENCH_ARGS)

sanitize: ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer, in build-asan/
	@scripts/deps.sh test
	@cmake -S . -B build-asan -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" \
	  -DASHUF_SANITIZE="address;undefined" -DASHUF_BUILD_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build build-asan
	@ctest --test-dir build-asan --output-on-failure --no-tests=error -j 2

fuzz: ## every fuzz target for FUZZ_SECONDS (60) seconds, in build-fuzz/
	@scripts/deps.sh ci
	@cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug \
	  -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DASHUF_SANITIZE="address;undefined;fuzzer-no-link" \
	  -DASHUF_FUZZ=ON -DASHUF_BUILD_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build build-fuzz --target fuzz/all
	@fuzz/run.sh build-fuzz

cross: ## the static library for aarch64, in build-aarch64/
	@scripts/cross.sh

install: build ## install; PREFIX=/where and DESTDIR are heeded
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean: ## remove everything that was built
	@rm -rf build build-* demo/out

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 24
