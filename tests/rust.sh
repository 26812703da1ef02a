#!/bin/sh
# rust.sh [first|more|whole]: the Rust tests. `first` is what `make test` runs: the suite on a sample, without its slow
# tests; the command; the programs of documents; and what `make figures` writes. `more` is what `make test-all` adds:
# the slow tests, and the unit tests of the core, for which it is compiled once more. `whole`, for the soak, takes all
# cases of every test of the suite. Without a word it is `first` and `more`.
set -eu
cd "$(dirname "$0")/.."
part=${1-all}

# Both parts name these packages together and choose no tests among them. Otherwise crates would be asked for other
# features, and what was compiled for the first part would not serve the second.
packages="-p petal-suite -p petal-cli -p petal-snippets -p petal-tools"
others="--workspace --exclude petal --exclude petal-suite --exclude petal-cli --exclude petal-snippets
    --exclude petal-tools"

# Lists of words below.
# shellcheck disable=SC2086
if [ "$part" = whole ]; then
    exec cargo test --locked --no-fail-fast $packages -- --include-ignored
fi
# shellcheck disable=SC2086
if [ "$part" != more ]; then
    # A test over all kinds takes a fifth of its cases, other ones than the next test.
    PETAL_SAMPLE=5 cargo test --locked --no-fail-fast $packages
fi
# shellcheck disable=SC2086
if [ "$part" != first ]; then
    # A third of the cases of slow tests; the soak has all.
    PETAL_SAMPLE=3 cargo test --locked --no-fail-fast $packages -- --ignored
    # Unit tests look at few values: to optimise the core for them takes longer than they do without.
    CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo test --locked --profile dev -p petal --features serde --lib
    CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo test --locked --profile dev -p petal --features serde --doc
    cargo test --locked --no-fail-fast $packages --features petal-cli/redis --test redis --test documents
    cargo test --locked --no-fail-fast $others
fi
