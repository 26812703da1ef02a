#!/bin/bash
# go-modules-test.sh CARGO_TARGET_DIRECTORY DIST: package petal of the modules that packaging/go-modules.sh makes with
# the archives in DIST, in a program in an empty home, on a machine where no libpetal is installed: it builds and runs,
# with -race too, and for each system that DIST has an archive for. `go-modules-test.sh program` prints the program.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
address=$(sed -n 's/^repository = "https:\/\/\(.*\)"$/\1/p' "$root/Cargo.toml")
program() {
    cat <<PROGRAM
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
}
[ "$1" != program ] || { program; exit; }
target=$(cd "$1" && pwd)
dist=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
log=$work/log
. "$root/tests/packaging/checks.sh"
. "$root/packaging/targets.sh"
unset CGO_CFLAGS CGO_LDFLAGS C_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH
must "Go makes its modules, with the archives" "$root/packaging/go-modules.sh" "$work/proxy" "$dist"

mkdir -p "$work/home" "$work/try" && cd "$work/try" || exit
program >main.go
cache=$(go env GOCACHE)
home=$HOME
export HOME=$work/home GOPROXY=file://$work/proxy GOSUMDB=off GOFLAGS=-modcacherw GOWORK=off GOCACHE="$cache" \
    GOMODCACHE="$work/home/modules" CGO_ENABLED=1
got() {
    go mod init example.com/try && go get "$address/bindings/go@v$version" && go mod tidy
}
# answers COMMAND...
answers() {
    said=$("$@" | tr -d '\r')
    [ "$said" = "apple: true
pear: false" ] || { echo "it says: $said"; return 1; }
}
# runs ARGUMENT...: builds with these, and runs.
runs() {
    go build "$@" -o try . && answers ./try || return
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

# for_system TARGET ARGUMENT...: builds for it with these, and runs where that is possible.
for_system() {
    local one=$1 go=("GOOS=linux" "GOARCH=amd64")
    shift
    case $one in *-windows) go=("GOOS=windows" "GOARCH=amd64") ;; aarch64-*) go=("GOOS=linux" "GOARCH=arm64") ;; esac
    # With musl a program needs no library at all.
    case $one in *-musl) set -- -tags musl -ldflags "-linkmode external -extldflags -static" "$@" ;; esac
    env "CC=$cc" "${go[@]}" go build "$@" -o "try$suffix" . || return
    [ ${#runner[@]} = 0 ] || answers "${runner[@]}" "$PWD/try$suffix"
}
place=$work/none
for one in $all_targets; do
    if [ "$one" = "$(uname -m)-linux-gnu" ] || [ ! -e "$dist/petal-$version-$one.tar.gz" ]; then continue; fi
    HOME=$home settings "$one"
    if [ -z "$cc" ] || ! has "$cc"; then
        echo "skipped: $one: there is no compiler${cc:+ $cc}"
        continue
    fi
    [ ${#runner[@]} != 0 ] || echo "skipped: $one: running the program: there is no emulator"
    check "$one: the program is built, and runs" for_system "$one"
done
finish
