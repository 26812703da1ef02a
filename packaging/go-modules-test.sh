#!/bin/bash
# go-modules-test.sh DIST: package petal of the modules that packaging/go-modules.sh makes with the archives in DIST, in
# a program in an empty home, on a machine where no libpetal is installed: it builds and runs, with -race too.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
dist=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
log=$work/log
. "$root/tests/packaging/checks.sh"
address=$(sed -n 's/^repository = "https:\/\/\(.*\)"$/\1/p' "$root/Cargo.toml")
unset CGO_CFLAGS CGO_LDFLAGS C_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH
must "Go makes its modules, with the archives" "$root/packaging/go-modules.sh" "$work/proxy" "$dist"

mkdir -p "$work/home" "$work/try" && cd "$work/try" || exit
cat >main.go <<PROGRAM
package main

import (
	"fmt"
	"log"

	"$address/bindings/go"
)

func main() {
	seen, err := petal.New(petal.Spec{Capacity: 1_000_000, FalsePositiveRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	seen.InsertString("apple")
	fmt.Println("apple:", seen.ContainsString("apple"))
	fmt.Println("pear:", seen.ContainsString("pear"))
}
PROGRAM
cache=$(go env GOCACHE)
export HOME=$work/home GOPROXY=file://$work/proxy GOSUMDB=off GOFLAGS=-modcacherw GOWORK=off GOCACHE="$cache" \
    GOMODCACHE="$work/home/modules" CGO_ENABLED=1
got() {
    go mod init example.com/try && go get "$address/bindings/go@v$version" && go mod tidy
}
# runs ARGUMENT...: builds with these, and runs.
runs() {
    go build "$@" -o try . && said=$(./try) || return
    [ "$said" = "apple: true
pear: false" ] || { echo "it says: $said"; return 1; }
    ! readelf -dW try | grep libpetal
}
vendored() {
    go mod vendor && GOPROXY=off runs -mod=vendor || return
    rm -rf vendor
}
asks_for_library() {
    ! go build -tags petal_system -o try . 2>said || { echo "a library of this system was linked"; return 0; }
    grep -e petal.h -e lpetal said
}
must "go get brings package petal" got
check "go build links the library without having it installed, and the program runs" runs
check "with -race too" runs -race
check "and from vendored sources" vendored
check "the tag petal_system asks for the installed library" asks_for_library
if [ -e "$dist/petal-$version-x86_64-linux-musl.tar.gz" ] && command -v musl-gcc >/dev/null; then
    check "the tag musl makes a program that needs no library" \
        env CC=musl-gcc sh -c \
        'go build -tags musl -ldflags "-linkmode external -extldflags -static" -o try . && ./try'
else
    echo "skipped: the tag musl: there is no archive for musl, or no musl-gcc"
fi
finish
