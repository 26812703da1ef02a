#!/bin/sh
# run.sh BUILD_DIRECTORY WORK_DIRECTORY [PATTERN]: the comparison with other packages, or those benchmarks of it that
# the pattern names, six times, as benchstat sums it up, with the built library, installed into WORK_DIRECTORY/prefix.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
rm -rf "$work/prefix"
cmake --install "$1" --prefix "$work/prefix" >"$work/install.log"
libdir=$(dirname "$(find "$work/prefix" -name libpetal.a)")
export CGO_ENABLED=1 CGO_CFLAGS="-I$work/prefix/include" CGO_LDFLAGS="-L$libdir -Wl,-rpath,$libdir"
cd "$here"
go test -run '^$' -bench "${3:-.}" -count 6 -benchtime 100ms | tee "$work/bench.txt"
go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da "$work/bench.txt" | tee "$work/benchstat.txt"
