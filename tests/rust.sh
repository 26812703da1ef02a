#!/bin/sh
# rust.sh [first|more]: the Rust tests. `first` is what `make test` runs: the unit tests, the suite on a sample, the
# command, the documents and the headers. `more` is everything of the workspace, whole. Without a word it is both.
set -eu
cd "$(dirname "$0")/.."
part=${1-all}

# Unit tests look at few values, so they are compiled quickly: in the profile of `cargo build`, not in that of the tests.
units() {
    cargo test --locked --profile dev -p petal --lib
}

if [ "$part" != more ]; then
    units
    # How many cases the tests over all kinds leave out: they take one in so many, another one in each test.
    PETAL_SAMPLE=3 cargo test --locked --no-fail-fast -p petal-suite -p petal-cli -p petal-snippets -p petal-header -p petal-tools
fi
if [ "$part" != first ]; then
    cargo test --locked --no-fail-fast --workspace --exclude petal --exclude petal-cli
    cargo test --locked -p petal --doc
    cargo test --locked --no-fail-fast -p petal-cli --features redis
fi
