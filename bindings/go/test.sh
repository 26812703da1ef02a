#!/bin/sh
# test.sh BUILD_DIRECTORY WORK_DIRECTORY [first|more|soak]: tests the Go packages against the built library, installed
# into WORK_DIRECTORY/prefix as any program would find it. Needs Go and a C compiler; staticcheck is used if it is on
# the PATH. `first` is what `make test` runs: each test once. `more` is the rest: the same tests in other ways, and in
# other places. `soak` has what needs Go's library compiled once more: every cgo pointer checked, and macOS.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$2
part=${3-all}

if ! command -v go >/dev/null; then
    echo "the Go tests need Go 1.24 or newer, but go is not on the PATH: install it from https://go.dev/dl" >&2
    exit 1
fi
wanted=$(sed -n 's/^go //p' "$here/go.mod")
found=$(go env GOVERSION | sed 's/^go//; s/ .*//')
if [ "$(printf '%s\n' "$wanted" "${found%%-*}" | sort -V | head -n 1)" != "$wanted" ]; then
    echo "the Go tests need Go $wanted or newer, this is $found" >&2
    exit 1
fi
rm -rf "$work/prefix"
mkdir -p "$work"
work=$(cd "$work" && pwd)
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
libdir=$(dirname "$(find "$work/prefix" -name libpetal.a)")
export CGO_ENABLED=1 CGO_CFLAGS="-I$work/prefix/include" CGO_LDFLAGS="-L$libdir -Wl,-rpath,$libdir"
# What needs no cgo.
pure="./view ./filter ./internal/image ./internal/sizing ./examples/breached ./examples/revoked"
passed=0
failed=0

# Tests of forged bytes, and those that compare view with petal, take long and have one goroutine. The former have a
# stage, and the race detector leaves out the latter too.
forged='Forged|Flipped|ThatLie|BrokenLookups'

# stage NAME COMMAND...: runs it, shows what fails, and counts the tests.
stage() {
    name=$1
    shift
    echo "-- $name"
    status=0
    begun=$(date +%s)
    "$@" >"$work/stage.log" 2>&1 || status=$?
    echo "   $(($(date +%s) - begun)) s"
    now=$(grep -c '^--- PASS' "$work/stage.log" || true)
    bad=$(grep -c '^--- FAIL' "$work/stage.log" || true)
    # A stage that prints no tests counts as one.
    [ "$now" != 0 ] || [ "$status" != 0 ] || now=1
    [ "$bad" != 0 ] || [ "$status" = 0 ] || bad=1
    [ "$status" = 0 ] || cat "$work/stage.log"
    passed=$((passed + now))
    failed=$((failed + bad))
}

# Without cgo package petal must refuse, and say where to go.
without_cgo() {
    CGO_ENABLED=0 go vet $pure && CGO_ENABLED=0 go test -count=1 -skip "$forged" $pure || return 1
    if message=$(CGO_ENABLED=0 go build . 2>&1); then
        echo "package petal compiled without cgo"
        return 1
    fi
    case $message in
    *import_bindings_go_view_instead*) ;;
    *) echo "package petal says only: $message" && return 1 ;;
    esac
}

# Without libpetal the message says what to do, and nothing else distracts from it. Go compiles several files at a
# time, so the message may come once for each of them.
without_library() {
    if message=$(CGO_CFLAGS= CGO_LDFLAGS= go build . 2>&1); then
        echo "a library of this system was found: nothing was tested"
        return 0
    fi
    case $message in
    *"Install the C library: run \`make install\`"*CGO_CFLAGS*view*) ;;
    *) echo "package petal says only: $message" && return 1 ;;
    esac
    if [ "$(printf '%s\n' "$message" | grep 'error:' | sort -u | wc -l)" != 1 ]; then
        echo "not one error but several: $message" && return 1
    fi
}

# docs/go.md's recipe without a network: an empty folder, an empty module cache, and the sources that are here.
without_network() (
    rm -rf "$work/offline"
    mkdir -p "$work/offline" && cd "$work/offline" || return 1
    cat >main.go <<'PROGRAM'
package main

import (
	"fmt"

	"github.com/petal-filter/petal/bindings/go"
)

func main() {
	seen, err := petal.New(petal.Spec{})
	fmt.Println(seen, err)
}
PROGRAM
    export GOPROXY=off GOFLAGS=-mod=mod GOMODCACHE="$work/offline/cache" GOWORK=off
    go mod init example.com/try &&
        go mod edit -replace "github.com/petal-filter/petal/bindings/go=$here" \
            -require github.com/petal-filter/petal/bindings/go@v0.0.0 &&
        go build -o try . && ./try | grep 'of 1000000, .*<nil>$'
)

# Other systems and processors, of which only what needs no cgo can be tried here: another byte order, numbers of 32
# bits, other systems and another processor. Go compiles its library for each, so the examples, whose servers need much
# of it, are tried with one.
elsewhere() {
    for target in ${1:-linux/s390x linux/386 windows/amd64}; do
        echo "$target"
        CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go vet ./view ./filter ./internal/image ./internal/sizing ||
            return 1
    done
    [ $# -gt 0 ] || CGO_ENABLED=0 GOOS=windows go vet $pure
}

# Package bloom, which is a separate module.
bloom() (
    cd bloom && go vet ./... && CGO_ENABLED=0 go test -count=1 -v .
)

bloom_more() (
    cd bloom && go test -count=1 -v -race ./... || return 1
    for target in linux/s390x linux/386 windows/amd64; do
        echo "$target"
        CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go vet ./... || return 1
    done
    # Numbers of 32 bits can be tried where the system runs programs for 386.
    CGO_ENABLED=0 GOOS=linux GOARCH=386 go test -c -o "$work/bloom.386" . || return 1
    if "$work/bloom.386" -test.run '^$' >/dev/null 2>&1; then "$work/bloom.386"; fi
)

# docs/go.md's `replace`: a whole program that imports bits-and-blooms, as its dependencies do, has package bloom in its
# place, and nothing is changed in its sources. `go mod tidy` reads the tests of package bloom too, so these must not
# import package bloom by its own path, which is on no proxy.
in_place() (
    rm -rf "$work/in_place"
    mkdir -p "$work/in_place" && cd "$work/in_place" || return 1
    cat >main.go <<'PROGRAM'
package main

import (
	"fmt"
	"reflect"

	"github.com/bits-and-blooms/bloom/v3"
)

func main() {
	seen := bloom.NewWithEstimates(1000, 0.01)
	seen.AddString("apple")
	held, _ := seen.MarshalJSON()
	fields := reflect.TypeFor[bloom.BloomFilter]().NumField()
	fmt.Println(seen.TestString("apple"), seen.BitSet().Count(), len(held) > 0, fields)
}
PROGRAM
    export GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=0
    go mod init example.com/whole &&
        go mod edit -replace "github.com/bits-and-blooms/bloom/v3=$here/bloom" \
            -require github.com/bits-and-blooms/bloom/v3@v3.7.1 &&
        go mod tidy && go build -o whole . && ./whole | grep '^true 7 true 4$' &&
        go version -m whole | grep "$here/bloom"
)

# Packages view and filter where there is only this module: their tests need nothing of the repository around it.
alone() (
    rm -rf "$work/alone"
    mkdir -p "$work/alone/module" && cp -R go.mod go.sum *.go *.h view filter internal "$work/alone/module" &&
        cd "$work/alone/module" && CGO_ENABLED=0 go vet ./view ./filter ./internal/... &&
        CGO_ENABLED=0 go test -count=1 -skip "$forged" ./view ./filter ./internal/... &&
        go test -count=1 -short -skip "$forged" .
)

# A list of passwords, built into one file by the command, and asked by both services: in C, and in Go without cgo.
breached() {
    list=/usr/share/dict/words
    [ -e $list ] || { list=$work/breached.txt && seq -f 'password %.0f' 100000 >"$list"; }
    "$work/prefix/bin/petal" build --kind fuse --fpr 0.001 -o "$work/breached.petal" "$list" &&
        ${CC:-cc} -std=c11 -O2 $CGO_CFLAGS "$here/../../examples/c/breached_passwords.c" $CGO_LDFLAGS -lpetal \
            -lpthread -o "$work/breached" &&
        "$work/breached" -f "$work/breached.petal" -c "$list" &&
        said=$( (head -n 1 "$list"; echo 'nobody has this one') | "$work/breached" -f "$work/breached.petal") &&
        [ "$said" = "breached
not breached" ] &&
        PETAL_BREACHED=$work/breached.petal PETAL_BREACHED_LIST=$list CGO_ENABLED=0 \
            go test -count=1 -v ./examples/breached
}

formatted() {
    test -z "$(gofmt -l .)"
}

benchmarks() {
    cd bench && go vet . && go test -run '^$' -bench . -benchtime 1x -keys 5000
}

cd "$here"
if [ "$part" = soak ]; then
    stage "go test with every cgo pointer checked" env GOEXPERIMENT=cgocheck2 \
        go test -count=1 -short -skip "$forged" -v .
    stage "without cgo on macOS" elsewhere darwin/arm64
    echo "$passed passed, $failed failed"
    exit $((failed > 0))
fi
if [ "$part" != more ]; then
    stage "gofmt" formatted
    stage "go vet" go vet ./...
    stage "go test" go test -count=1 -skip "$forged" -v ./...
    stage "package bloom" bloom
    stage "breached passwords, in C and in Go" breached
fi
if [ "$part" != first ]; then
    if command -v staticcheck >/dev/null; then
        stage "staticcheck" staticcheck ./...
    else
        echo "-- staticcheck: not on the PATH, left out"
    fi
    stage "go test of forged bytes" go test -count=1 -run "$forged" -v ./...
    stage "go test -race" go test -count=1 -short -skip "$forged|TestView" -v -race ./...
    stage "go test -tags petal_static" env CGO_LDFLAGS="-L$libdir" \
        go test -count=1 -short -skip "$forged" -v -tags petal_static .
    stage "without cgo" without_cgo
    stage "without libpetal" without_library
    stage "without a network" without_network
    stage "without cgo elsewhere" elsewhere
    stage "package bloom in other ways" bloom_more
    stage "package bloom in place of bits-and-blooms" in_place
    stage "without the repository" alone
    stage "benchmarks, once each" benchmarks
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
