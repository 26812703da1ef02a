# A thin front: CMakeLists.txt builds and installs, cargo compiles, tests/ and ctest/ test.

PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build
TARGET := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
CMAKE_FLAGS ?=
CORES := $(shell getconf _NPROCESSORS_ONLN)
CONFIGURE = cmake -S . -DPETAL_CARGO_TARGET_DIR="$(abspath $(TARGET))" $(CMAKE_FLAGS)
# The command with `petal redis`, besides what else is released.
BUILD_REDIS_COMMAND = cmake/cargo.sh build --locked --release -p petal-cli --features redis --target-dir "$(TARGET)"

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build redis sqlite wasm web install uninstall demo clean help header symbols abi licences figures layers
.PHONY: check test test-all test-more test-lint test-rust test-neon test-windows test-musl test-c test-sanitizers test-fuzz test-package test-go
.PHONY: packages test-packages release
.PHONY: dist test-registries test-dist test-reproducible test-install test-interop test-redis test-postgresql test-sqlite test-node test-wasm test-web fuzz mutants planted soak
.PHONY: python test-python wheels test-wheels
.PHONY: soak-redis soak-aarch64 bench bench-pictures bench-quick bench-beside bench-calls bench-inlined bench-verbs
.PHONY: bench-billion bench-compact bench-wasm bench-formats bench-go bench-redis bench-postgresql bench-universes bench-indexes

# REDIS=1: the command with `petal redis`, which brings TLS along.
build: ## compile libpetal.so and libpetal.a into build/lib, and the command petal (the default)
	@cmake/requirements.sh build
	@$(CONFIGURE) -B "$(BUILD)" -DCMAKE_INSTALL_PREFIX="$(PREFIX)" $(if $(filter 1,$(REDIS)),-DPETAL_CLI_REDIS=ON) >/dev/null
	@cmake --build "$(BUILD)"

redis: ## compile libpetal_redis.so, the module for Redis and Valkey, into build/lib; `make install` then installs it too
	@cmake/requirements.sh redis
	@$(CONFIGURE) -B "$(BUILD)" -DPETAL_REDIS=ON -DCMAKE_INSTALL_PREFIX="$(PREFIX)" >/dev/null
	@cmake --build "$(BUILD)" --target petal_redis

sqlite: ## compile petal_sqlite.so, functions for SQLite, into build/lib; `make install` then installs it too
	@cmake/requirements.sh sqlite
	@$(CONFIGURE) -B "$(BUILD)" -DPETAL_SQLITE=ON -DCMAKE_INSTALL_PREFIX="$(PREFIX)" >/dev/null
	@cmake --build "$(BUILD)" --target petal_sqlite

wasm: ## compile the modules for browsers and Node.js into bindings/wasm/dist
	@cmake/requirements.sh wasm
	@bindings/wasm/build.sh "$(abspath $(TARGET))"

# PYTHON=python3.12: another Python. An installed copy for tests; docs/python.md says how to install the package.
python: ## the Python package, in target/python
	@$(MAKE) --no-print-directory build
	@bindings/python/build.sh "$(BUILD)" "$(TARGET)/python"

web: ## the page on which to choose, see and size a filter: build/petal.html, one file, which a browser opens
	@cmake/requirements.sh wasm
	@bindings/wasm/build.sh "$(abspath $(TARGET))" petal
	@node web/build.mjs bindings/wasm/dist/petal.wasm "$(BUILD)/petal.html"
	@echo "$(BUILD)/petal.html"

# `sudo make install` often has no cargo: then what `make` built before is installed.
install: ## install into PREFIX (/usr/local), below DESTDIR if given
	@if command -v cargo >/dev/null; then $(MAKE) --no-print-directory build; fi
	@cmake/install.sh "$(BUILD)" "$(PREFIX)" "$(DESTDIR)"

# Removes what `make install` noted in the build, and what the build would install now.
uninstall: ## remove what `make install` with the same PREFIX and DESTDIR installed
	@if [ ! -f "$(BUILD)/CMakeCache.txt" ]; then echo "nothing is built in $(BUILD): run \`make\` first" >&2; exit 1; fi
	@cmake/uninstall.sh "$(BUILD)" "$(PREFIX)" "$(DESTDIR)"

demo: ## the main job on real words: install into target/demo, compile a C program against that, run it
	@cmake/requirements.sh demo
	@$(MAKE) --no-print-directory build
	@cmake/demo.sh "$(BUILD)" "$(TARGET)/demo"

# KIND=cuckoo: the tests over all kinds look at this one only.
check: ## what to run while you work: formatting, style, compile errors, the tests over all kinds; a minute after a change
	tests/style.sh
	cargo fmt --all --check
	cargo check --locked -p petal -p petal-capi -p petal-cli
	PETAL_KIND=$(KIND) cargo test --locked --profile quick -p petal-suite --test suite -- \
	  conformance:: facets:: in_place:: built:: state_machine:: compact:: ageing:: shared::

test: ## what a change may break: the Rust, C, C++ and Go tests, the command, the documents, the package
	@cmake/requirements.sh test
	@MAKE="$(MAKE)" tests/stages.sh first

test-all: ## `make test`, then the rest of the tests
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory test-more

test-more: ## the rest alone: lints, sanitizers, emulators, fuzzing, builds by choice, servers, owners of formats
	@cmake/requirements.sh test-more
	@cmake/requirements.sh interop
	@cmake/requirements.sh test-redis
	@cmake/requirements.sh test-postgresql
	@cmake/requirements.sh test-sqlite
	@MAKE="$(MAKE)" tests/stages.sh more

# PART=first: of this stage and the next ones, what `make test` runs. PART=more: what it leaves to `make test-more`.

test-lint: ## formatting, lints and documentation, of every Rust package and its tests; Go's are in test-go
	@echo "== $@: tests/style.sh, cargo fmt, clippy and doc"
	tests/style.sh
	cargo fmt --all --check
	cd fuzz && cargo fmt --check
	cd integrations/redis && cargo fmt --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	tests/features.sh
	tests/inlined.sh blocked split_block bloom fuse cuckoo counting
	tests/targets.sh
	cd fuzz && CARGO_TARGET_DIR="$(abspath $(TARGET))" cargo clippy --locked --all-features -- -D warnings
	cd integrations/redis && CARGO_TARGET_DIR="$(abspath $(TARGET))" cargo clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked -p petal --no-deps

test-rust: ## the Rust tests
	@echo "== $@: tests/rust.sh $(PART)"
	@tests/rust.sh $(PART)

test-neon: ## what is for aarch64, in an emulator of it
	@echo "== $@: tests/neon.sh"
	@tests/neon.sh "$(TARGET)"

test-musl: ## C programs that musl-gcc links with the library for musl
	@echo "== $@: tests/musl.sh"
	@tests/musl.sh "$(TARGET)"

test-c: ## the C and C++ tests, which know only the headers
	@echo "== $@: ctest"
	@$(CONFIGURE) -B "$(BUILD)/ctest" -DPETAL_BUILD_TESTS=ON -DPETAL_INSTALL=OFF \
	  -DPETAL_TESTS=$(if $(filter first soak,$(PART)),$(PART),all) >/dev/null
	@cmake --build "$(BUILD)/ctest" --parallel $(CORES)
	@cd "$(BUILD)/ctest" && ctest --parallel $(CORES) --no-tests=error --output-on-failure \
	  $(if $(filter more,$(PART)),--label-exclude first)

test-sanitizers: ## the C tests under Valgrind and the sanitizers
	@echo "== $@: ctest/sanitizers.sh (compiles several times, some minutes)"
	@ctest/sanitizers.sh

test-fuzz: ## the fuzz targets over the committed corpus, which finds a planted bug
	@echo "== $@: fuzz/run.sh replay (some minutes the first time)"
	@CARGO_TARGET_DIR="$(TARGET)" fuzz/run.sh replay

test-package: ## the installed package, as other programs use it
	@echo "== $@: tests/packaging/run.sh"
	@tests/packaging/run.sh "$(TARGET)" $(if $(filter first,$(PART)),once)

test-go: ## the Go packages, against the library installed into target/go
	@echo "== $@: bindings/go/test.sh"
	@$(MAKE) --no-print-directory build
	@bindings/go/test.sh "$(BUILD)" "$(TARGET)/go" $(PART)

# PART=more: as a stage of `make test-more`, with the library that `make test` has built.
test-python: ## the Python package, with pytest alone and with NumPy, pyarrow, Polars and pandas
	@echo "== $@: bindings/python/test.sh"
	@$(if $(filter more,$(PART)),test -e "$(BUILD)/lib/libpetal.a" ||) $(MAKE) --no-print-directory build
	@bindings/python/test.sh "$(BUILD)" "$(TARGET)/python"

# PART=sample: quick checks only, which are a stage of `make test-more`.
test-registries: ## what would be published at the registries of crates, npm and Go, used from there; nothing is published
	@echo "== $@: packaging/registries.sh $(PART)"
	@packaging/registries.sh "$(abspath $(TARGET))" $(PART)

# TARGETS="x86_64-linux-musl": these only; packaging/dist.sh lists them. HURRY=1: compiled fast, for tests.
HURRIED = $(if $(HURRY),CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
  CARGO_PROFILE_RELEASE_LTO=off)
dist: ## archives of the library and the command for other systems, in build/dist
	@$(HURRIED) packaging/dist.sh "$(abspath $(TARGET))" "$(BUILD)/dist" $(TARGETS)

test-dist: ## what `make dist` made, unpacked, linked and run: in Debian 11, in an emulator, with musl, by Go
	@echo "== $@: packaging/dist-test.sh"
	@packaging/dist-test.sh "$(abspath $(TARGET))" "$(BUILD)/dist"
	@packaging/go-modules-test.sh "$(abspath $(TARGET))" "$(BUILD)/dist"

# WHEELS="x86_64 source": these only. A release makes the archives first; a wheel that is named gets its own.
wheels: ## wheels of the Python package and its source distribution, over the archives of `make dist`, in build/wheels
	@$(HURRIED) packaging/wheels.sh "$(abspath $(TARGET))" "$(BUILD)/dist" "$(BUILD)/wheels" $(WHEELS)

test-wheels: ## what `make wheels` made, installed into empty environments and tested there (HURRY=1)
	@echo "== $@: packaging/wheels-test.sh"
	@$(HURRIED) packaging/wheels-test.sh "$(abspath $(TARGET))" "$(BUILD)/wheels"

test-reproducible: ## `make dist` once more, in another folder and another home: the same bytes (TARGETS=... HURRY=1)
	@echo "== $@: packaging/dist-again.sh"
	@$(HURRIED) packaging/dist-again.sh "$(abspath $(TARGET))" "$(BUILD)/dist" $(or $(TARGETS),$$(uname -m)-linux-gnu)

test-install: ## an archive, Go, npm and cargo each bring a program to run in a system of its own, and are removed again
	@echo "== $@: packaging/install-test.sh"
	@mkdir -p "$(BUILD)/dist"
	@packaging/install-test.sh "$(abspath $(TARGET))" "$(BUILD)/dist"

# DRY=1: only whether everything agrees, which is a stage of `make test-more`. HURRY=1: compiled fast, for tests.
release: ## everything that a release publishes, made, tried and put into build/release with a list; nothing is published
	@echo "== $@: packaging/release.sh"
	@$(HURRIED) packaging/release.sh "$(abspath $(TARGET))" "$(BUILD)" $(if $(DRY),dry)

packages: ## Debian's packages, built in a clean chroot, in build/packages; takes root and mmdebstrap
	@packaging/packages.sh "$(abspath $(TARGET))" "$(BUILD)/packages"

test-packages: ## the same, then installed in another chroot, used, upgraded and purged
	@echo "== $@: packaging/packages.sh test"
	@packaging/packages.sh "$(abspath $(TARGET))" "$(BUILD)/packages" test

# No stage of `make test-all` yet.
test-windows: ## the library, the command, the tests and the package as Windows programs, under Wine
	@echo "== $@: tests/windows/run.sh"
	@cmake/requirements.sh windows
	@tests/windows/run.sh "$(TARGET)"

# INTEROP="libbloom": these owners only.
test-interop: ## the owners of other formats and interfaces, installed where it may, asked whether Petal keeps to theirs
	@echo "== $@: tests/interop/run.sh"
	@cmake/requirements.sh interop
	@tests/interop/run.sh "$(TARGET)" $(INTEROP)

# The module is compiled in a hurry; `make soak-redis` has it as it is released.
# REDIS="damage": checks with this word in their names only. SERVERS=some: the oldest server, the newest, and the one of
# this system.
test-redis: ## the module for Redis and Valkey and the command `petal redis`, on real servers
	@echo "== $@: integrations/redis/tests/run.sh"
	@cmake/requirements.sh test-redis
	@CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
	  $(MAKE) --no-print-directory redis
	@$(BUILD_REDIS_COMMAND)
	@PETAL_REDIS_SERVERS="$(or $(SERVERS),all)" PETAL_COMMAND="$(abspath $(TARGET))/release/petal" \
	  integrations/redis/tests/run.sh "$(BUILD)" $(REDIS)

# POSTGRESQL="damage": checks with this word in their names only; "--soak": at length. PG_CONFIG=/path/of/pg_config:
# another PostgreSQL than the system's. PART=more: as a stage of `make test-more`, with the library of `make test`.
test-postgresql: ## the extension for PostgreSQL, in a server of its own
	@echo "== $@: integrations/postgresql/tests/run.sh"
	@cmake/requirements.sh test-postgresql
	@$(if $(filter more,$(PART)),test -e "$(BUILD)/lib/libpetal.a" ||) $(MAKE) --no-print-directory build
	@integrations/postgresql/tests/run.sh "$(BUILD)" "$(TARGET)/postgresql" $(POSTGRESQL)

# PART=soak: 10^5 damaged blobs, and every allocation refused once. Node.js too, where better-sqlite3 can be compiled.
test-sqlite: ## the functions for SQLite, in sqlite3, Python and C programs, damaged blobs and a lack of memory
	@echo "== $@: integrations/sqlite/tests/run.sh $(PART)"
	@cmake/requirements.sh test-sqlite
	@$(MAKE) --no-print-directory sqlite
	@PETAL_COMMAND="$(abspath $(TARGET))/release/petal" integrations/sqlite/tests/run.sh "$(BUILD)" \
	  "$(abspath $(TARGET))/sqlite" $(PART)

# Says what it leaves out, and does nothing without Node.js.
test-node: ## the JavaScript package in Node.js alone, with two of its four modules
	@echo "== $@: bindings/wasm/test.sh short"
	@bindings/wasm/test.sh short "$(abspath $(TARGET))"

test-wasm: ## the JavaScript package, in Node.js and in a headless Chromium
	@echo "== $@: bindings/wasm/test.sh"
	@cmake/requirements.sh test-wasm
	@$(MAKE) --no-print-directory wasm
	@bindings/wasm/test.sh

# PICTURES=FOLDER: pictures of the page in both themes and two widths.
test-web: ## the page, in a headless Chromium, beside the command
	@echo "== $@: web/test.sh"
	@cmake/requirements.sh test-web
	@$(MAKE) --no-print-directory web
	@cmake/cargo.sh build --quiet --locked --release -p petal-cli --target-dir "$(TARGET)"
	@web/test.sh "$(abspath $(BUILD))/petal.html" "$(abspath $(TARGET))/release/petal" $(PICTURES)

fuzz: ## look for unknown failures, FUZZ_SECONDS (60) for each target; what is found stays in fuzz/corpus
	@CARGO_TARGET_DIR="$(TARGET)" fuzz/run.sh explore $(FUZZ_SECONDS)
	@command -v go >/dev/null || { echo "the fuzz target of pure Go needs go, which is not on the PATH" >&2; exit 1; }
	@cd bindings/go && CGO_ENABLED=0 go test ./internal/image -run '^$$' -fuzz FuzzImage \
	  -fuzztime "$(or $(FUZZ_SECONDS),60)s"

# MUTANTS="0/64 src/making/plan.rs": a shard, or some files; MUTANTS="0/16 --since COMMIT": a shard of what came after it.
mutants: ## change the core in thousands of small ways, and look whether tests notice (hours; takes cargo-mutants)
	@CARGO_TARGET_DIR="$(TARGET)" tests/mutants.sh $(MUTANTS)

# PLANTED="counter shard": faults with one of these words in their names.
planted: ## plant a fault in each facet, and look whether the tests that name no kind find it (some 20 minutes)
	@CARGO_TARGET_DIR="$(TARGET)" tests/planted/run.sh $(PLANTED)

# SOAK="--lookups 1e8 --bits 0" does less; CRASH is how many processes of each sort are killed at random moments. That of
# the module for Redis is `make soak-redis`, which takes servers.
CRASH ?= 500
soak: ## every test of the suite whole, every number of keys built, 10^9 lookups, all rates in narrow bands, 10^8 operations a kind, filters past 2^35 bits, processes killed
	tests/rust.sh whole
	$(MAKE) --no-print-directory test-c PART=soak
	$(MAKE) --no-print-directory test-go PART=soak
	PETAL_CRASH=$(CRASH) cargo test --locked -p petal-suite --test crash -- --include-ignored
	PETAL_SOAK=1 cargo test --locked -p petal-suite --test suite -- --include-ignored \
	  false_positive_rate:: conformance:: sweep::
	PETAL_SOAK=1 cargo test --locked -p petal-suite --test suite -- --include-ignored \
	  state_machine:: ageing:: stable:: quotient:: cuckoo:: exact_set:: format::
	tests/features.sh all
	tests/inlined.sh
	cargo test --locked -p petal-suite --no-default-features --features kinds --test suite -- --include-ignored golden:: kernels::
	cargo bench --locked -p petal-suite --bench soak -- $(SOAK)
	$(MAKE) --no-print-directory test-sqlite PART=soak
	$(MAKE) --no-print-directory test-registries
	$(MAKE) --no-print-directory dist TARGETS=$$(uname -m)-linux-gnu
	$(MAKE) --no-print-directory test-dist
	$(MAKE) --no-print-directory wheels WHEELS="$$(uname -m) source"
	$(MAKE) --no-print-directory test-wheels
	$(MAKE) --no-print-directory test-reproducible
	$(MAKE) --no-print-directory test-install
	$(MAKE) --no-print-directory test-packages

# AARCH64=package: one part of it, of rust, c and package.
soak-aarch64: ## the Rust suite, the C tests and the package for aarch64 Linux, whole, in an emulator: some hours
	@tests/aarch64.sh "$(TARGET)" $(AARCH64)

# What `make soak` is to the core; some minutes, 2 GiB of memory. REDIS=kills: one part of it.
soak-redis: ## the module and `petal redis` at length: 10^8 keys with their rate, servers killed at random, a cluster under load
	@cmake/requirements.sh test-redis
	@$(MAKE) --no-print-directory redis
	@$(BUILD_REDIS_COMMAND)
	@PETAL_COMMAND="$(abspath $(TARGET))/release/petal" integrations/redis/tests/run.sh "$(BUILD)"
	@PETAL_COMMAND="$(abspath $(TARGET))/release/petal" integrations/redis/tests/run.sh "$(BUILD)" --soak $(REDIS)

# BENCH="--only blocked --keys 1e6" does less, BENCH=--huge more. Boost.Bloom (Boost 1.89 or later) and RocksDB are
# measured too where they are; PEERS_INCLUDE="DIR DIR" names folders of headers in which the compiler does not look by
# default. AVX512=hidden measures what a processor without it would do, in the other libraries too.
PEERS = $(addprefix -I,$(PEERS_INCLUDE))
BENCH_MARCH = $(if $(AVX512),x86-64-v3,native)
bench: ## every kind beside other libraries and what memory allows (docs/performance.md), some minutes
	@mkdir -p "$(TARGET)/bench" && rm -f "$(TARGET)/bench/libpeers.so"
	@$(CXX) -std=c++17 -O3 -march=$(BENCH_MARCH) -shared -fPIC $(PEERS) benches/peers.cpp -o "$(TARGET)/bench/libpeers.so" \
	  $$($(CXX) -xc++ -E -include rocksdb/version.h /dev/null >/dev/null 2>&1 && echo -lrocksdb) \
	  2>"$(TARGET)/bench/libpeers.log" || echo "benches/peers.cpp was not compiled" >&2; \
	  grep -E "missing|error" "$(TARGET)/bench/libpeers.log" >&2 || true
	peers="$(abspath $(TARGET))/bench/libpeers.so"; \
	  if [ -e "$$peers" ]; then PETAL_BENCH_PEERS=$$peers; export PETAL_BENCH_PEERS; fi; \
	  cargo run --locked --release -p petal-bench $(if $(AVX512),--no-default-features) \
	    -- --output "$(TARGET)/bench" $(BENCH)

# On a machine that does nothing else. The tables of docs/performance.md come from the same run.
bench-pictures: ## `make bench`, and the pictures of README and docs/performance.md drawn from it; AVX512=hidden
	@mkdir -p docs/performance$(if $(AVX512),/avx2)
	@$(MAKE) --no-print-directory bench BENCH="--svg docs/performance$(if $(AVX512),/avx2) $(BENCH)"

bench-quick: ## three kinds and one other library at three sizes, less than 90 seconds after compiling
	@$(MAKE) --no-print-directory bench BENCH="--quick $(BENCH)"

bench-calls: ## one key from C: lookups and insertions in all forms, the inlined probe, hashing and the limit
	@$(MAKE) --no-print-directory build
	@mkdir -p "$(TARGET)/bench"
	$(CC) -std=c11 -O3 -march=native -Iinclude benches/calls.c -o "$(TARGET)/bench/calls" \
	  -L"$(BUILD)/lib" -lpetal -Wl,-rpath,"$(abspath $(BUILD)/lib)"
	"$(TARGET)/bench/calls"

bench-inlined: ## single keys from C: inlined, by call, in batches, and in plain loops of the same structures; KEYS="1e4 1e6"
	@$(MAKE) --no-print-directory build
	@mkdir -p "$(TARGET)/bench"
	$(CC) -std=c11 -O3 -march=native -Iinclude benches/inlined.c -o "$(TARGET)/bench/inlined" \
	  -L"$(BUILD)/lib" -lpetal -Wl,-rpath,"$(abspath $(BUILD)/lib)"
	"$(TARGET)/bench/inlined" $(KEYS)

bench-verbs: ## every kind and verb from C, by call and in batches, beside reads of memory; KEYS="1e4 1e8" BATCH=16
	@$(MAKE) --no-print-directory build
	@mkdir -p "$(TARGET)/bench"
	$(CC) -std=c11 -O3 -march=native -Iinclude benches/verbs.c -o "$(TARGET)/bench/verbs" \
	  -L"$(BUILD)/lib" -lpetal -Wl,-rpath,"$(abspath $(BUILD)/lib)"
	"$(TARGET)/bench/verbs" $(if $(KIND),-k $(KIND)) $(if $(BATCH),-b $(BATCH)) $(KEYS)

# PEERS_INCLUDE="DIR DIR" as for bench; benches/beside.cpp names the headers. Where the processor has AVX-512, all is
# measured a second time without it.
bench-beside: ## Petal from C++ in batches, by call and inlined, beside Boost.Bloom and other headers; KEYS="1e4 1e6"
	@$(MAKE) --no-print-directory build
	@mkdir -p "$(TARGET)/bench"
	@for set in native $$(grep -qs avx512dq /proc/cpuinfo && echo x86-64-v3); do \
	  $(CXX) -std=c++17 -O3 -march=$$set -Iinclude $(PEERS) benches/beside.cpp -o "$(TARGET)/bench/beside-$$set" \
	    -L"$(BUILD)/lib" -lpetal -Wl,-rpath,"$(abspath $(BUILD)/lib)" || exit 1; \
	  echo "-march=$$set" && "$(TARGET)/bench/beside-$$set" $(KEYS) || exit 1; \
	done

bench-python: ## the Python package beside other filters for Python and beside the same batches from C; opening large files
	@$(MAKE) --no-print-directory python
	@test -x "$(TARGET)/python/peers/bin/python" || python3 -m venv "$(TARGET)/python/peers"
	@"$(TARGET)/python/peers/bin/pip" install --quiet --disable-pip-version-check numpy pyarrow polars \
	  rbloom fastbloom-rs pybloom-live pyprobables
	@PYTHONPATH="$(abspath $(TARGET))/python" "$(TARGET)/python/peers/bin/python" bindings/python/bench/bench.py \
	  "$(abspath $(BUILD)/lib)/libpetal.so"

# KEYS="1e6 1e7": universes of this many keys. It takes the crate clubcard, which nothing else here is linked with.
bench-universes: ## exact sets beside those of the crate clubcard and beside `ribbon`: bits, builds and lookups
	cargo run --locked --release -p petal-bench --features clubcard --bin universes -- $(KEYS)

bench-indexes: ## documents that contain terms, found in an index of ROWS documents (10^6)
	cargo bench --locked --bench indexes -- contains $(ROWS)

# KIND=ribbon: of that kind. benches/billion.sh says what else can be chosen.
bench-billion: ## 10^9 keys by the command in 2 GiB of memory and 16 GB of temporary disk, verified and all looked up
	cmake/cargo.sh build --locked --release -p petal-cli --target-dir "$(TARGET)"
	benches/billion.sh "$(TARGET)/release/petal" $(KIND)

# Compared with LevelDB's own policy where libleveldb-dev is installed.
bench-compact: ## compact forms of few keys, and one key asked of many filters, from C++
	@$(MAKE) --no-print-directory build
	@mkdir -p "$(TARGET)/bench"
	leveldb=$$(echo '#include <leveldb/filter_policy.h>' | $(CXX) -x c++ -E - >/dev/null 2>&1 \
	  && echo -DLEVELDB -lleveldb); \
	$(CXX) -std=c++17 -O3 -march=native -Iinclude benches/compact.cpp -o "$(TARGET)/bench/compact" \
	  -L"$(BUILD)/lib" -lpetal -Wl,-rpath,"$(abspath $(BUILD)/lib)" $$leveldb
	"$(TARGET)/bench/compact"

# Takes libleveldb-dev, librocksdb-dev (7.8) and libbloom-dev (1.6), which `make test-interop` installs.
bench-formats: ## imported filters beside the code of LevelDB, libbloom and RocksDB, from C
	@$(MAKE) --no-print-directory build
	@mkdir -p "$(TARGET)/bench"
	$(CXX) -std=c++17 -O2 -Iinclude benches/formats.cpp -o "$(TARGET)/bench/formats" -L"$(BUILD)/lib" -lpetal \
	  -Wl,-rpath,"$(abspath $(BUILD)/lib)" -lleveldb -lrocksdb -lbloom -lm
	"$(TARGET)/bench/formats" $(BENCH)

# BENCH=Bloom: package bloom compared with bits-and-blooms only.
bench-wasm: ## a batch in each module of bindings/wasm beside native portable code
	@$(MAKE) --no-print-directory wasm
	@cargo build --quiet --locked --release -p petal-wasm --example batch
	@cd bindings/wasm && node bench.mjs "$(abspath $(TARGET))/release/examples/batch"

bench-go: ## the Go packages beside other Go libraries, as benchstat sums it up
	@$(MAKE) --no-print-directory build
	@bindings/go/bench/run.sh "$(BUILD)" "$(TARGET)/go" $(BENCH)

# PETAL_REDISBLOOM=/path/of/redisbloom.so: compared with that module instead.
# ROWS=1000000: of a smaller table.
bench-postgresql: ## the extension for PostgreSQL beside the server's own functions, over 10^7 rows
	@cmake/requirements.sh test-postgresql
	@$(MAKE) --no-print-directory build
	@integrations/postgresql/tests/run.sh "$(BUILD)" "$(TARGET)/postgresql" --bench $(ROWS)

bench-redis: ## the module's commands beside the server's own: keys a second, memory, and how long others wait
	@cmake/requirements.sh test-redis
	@$(MAKE) --no-print-directory redis
	@integrations/redis/tests/run.sh "$(BUILD)" --bench

header: ## regenerate the headers in include from capi/
	PETAL_UPDATE=1 CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo test --profile dev -p petal-header --test header

symbols: ## list in capi/petal.map what the headers declare; review the difference
	capi/symbols.sh write

abi: ## describe the ABI of the headers in capi/petal.abi; review the difference, and say it in CHANGELOG.md
	capi/abi.sh write

licences: ## list the licences of the crates that are linked in, in LICENSES-THIRD-PARTY
	cargo run --locked -p petal-tools -- licences

layers: ## write what follows from tables: image functions in C and Go, packed forms, calls with bytes and with NULL
	cargo run --locked -p petal-tools -- layers

figures: ## draw docs/figures, and write what else is told of each kind: tables of docs/kinds, names for Go
	cargo run --locked -p petal-tools -- figures

clean: ## remove everything that was built
	rm -rf "$(BUILD)"
	cargo clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' Makefile
