#!/bin/sh
# rust.sh [first|more]: the Rust tests. `first` is what `make test` runs: the suite on a sample and without what is slow,
# the command, the programs of documents, and what `make figures` writes. `more` is everything, whole, with the unit
# tests of the core, for which the core is compiled once more. Without a word it is both.
set -eu
cd "$(dirname "$0")/.."
part=${1-all}

if [ "$part" != more ]; then
    # A test over all kinds takes a fifth of its cases, other ones than the next test.
    PETAL_SAMPLE=5 cargo test --locked --no-fail-fast -p petal-suite -p petal-cli -p petal-snippets -p petal-tools
fi
if [ "$part" != first ]; then
    # Unit tests look at few values: they are compiled quickly, in the profile of `cargo build`.
    cargo test --locked --profile dev -p petal --lib
    cargo test --locked --no-fail-fast --workspace --exclude petal --exclude petal-cli -- --include-ignored
    cargo test --locked -p petal --doc
    cargo test --locked --no-fail-fast -p petal-cli --features redis -- --include-ignored
fi
