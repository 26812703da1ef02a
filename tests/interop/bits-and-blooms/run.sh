#!/bin/sh
# run.sh CARGO_TARGET_DIRECTORY: package bloom of bindings/go compared with github.com/bits-and-blooms/bloom/v3, which
# the Go module proxy has: the same API, the same bits and bytes after random operations, and its own tests over Petal's
# code. What this asks lies in Go's cache, so the directory is not used.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CGO_ENABLED=0
cd "$here" || exit 1
needs go
go mod download >"$work/log" 2>&1 || skip "the Go modules cannot be had: $(tail -n 1 "$work/log")"

# The tests of the original are in its package and use its internals, which inside.go gives them.
own_tests() {
    original=$(go list -m -f '{{.Dir}}' github.com/bits-and-blooms/bloom/v3) || return 1
    bloom=$here/../../../bindings/go/bloom
    mkdir "$work/own" || return 1
    for file in "$bloom"/*.go; do
        case $file in
        *_test.go) ;;
        *) cp "$file" "$work/own/" ;;
        esac
    done
    # They have their own min, from before Go had one, and write a filter's fields without names.
    sed -e 's/\<min(/least(/g' -e 's/BloomFilter{\(1000, .\+\)}/*inside(\1)/' "$original/bloom_test.go" \
        >"$work/own/bloom_test.go" &&
        cat "$original/murmur_test.go" >"$work/own/murmur_test.go" &&
        cp "$here/testdata/inside.go" "$bloom/go.mod" "$bloom/go.sum" "$work/own/" &&
        cd "$work/own" &&
        go get github.com/twmb/murmur3@v1.1.8 &&
        go test -vet=off -count=1 -v . &&
        go test -vet=off -count=1 -run '^$' -bench . -benchtime 1x .
}

check "go vet" go vet ./...
check "the same API" go test -count=1 -run TestAPI .
check "the same bits, bytes and answers" go test -count=1 -skip 'TestAPI|TestVectors' .
check "the vectors of bindings/go/bloom are those of the original" go test -count=1 -run TestVectors .
check "the tests of the original over Petal's code" own_tests
finish
