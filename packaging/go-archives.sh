#!/bin/sh
# go-archives.sh FOLDER MODULE: makes of Go's module `petal` in MODULE, a copy of bindings/go, one that needs no
# installed library. For each archive that packaging/dist.sh wrote into FOLDER, MODULE/lib/TARGET is a module with the
# static library, and the package imports the one for the system that it is compiled for. Prints these folders.
#
# The headers lie beside the package's files, because `go mod vendor` copies only folders with Go files. The build tag
# `petal_system` chooses the installed library instead, `petal_static` its archive, and `musl` that of musl.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
dist=$(cd "$1" && pwd)
module=$(cd "$2" && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
path=$(sed -n 's/^module //p' "$module/go.mod")

# archive TARGET FOLDER CONSTRAINT LIBRARIES
archive() {
    tarball=$dist/petal-$version-$1.tar.gz
    [ -e "$tarball" ] || return 0
    folder=$module/lib/$2
    mkdir -p "$folder"
    tar --extract --file "$tarball" --directory "$folder" --strip-components=2 "petal-$version-$1/lib/libpetal.a"
    tar --extract --file "$tarball" --directory "$folder" --strip-components=4 "petal-$version-$1/share/doc/petal"
    sed -n '/^go /p' "$module/go.mod" | { echo "module $path/lib/$2" && echo && cat; } >"$folder/go.mod"
    cat >"$folder/archive.go" <<GO
// Package $2 is the C library for package petal, which imports it.
package $2

// #cgo LDFLAGS: \${SRCDIR}/libpetal.a $4
import "C"
GO
    cat >"$module/archive_$2.go" <<GO
//go:build cgo && $3 && !petal_system && !petal_static

package petal

// #cgo CFLAGS: -I\${SRCDIR}
import "C"

import _ "$path/lib/$2"
GO
    echo "require $path/lib/$2 v$version" >>"$module/go.mod"
    has="${has:+$has || }($3)"
    echo "lib/$2"
}

has=
unix="-lpthread -lm -ldl"
archive x86_64-linux-gnu linux_amd64 "linux && amd64 && !musl" "$unix"
archive aarch64-linux-gnu linux_arm64 "linux && arm64 && !musl" "$unix"
archive x86_64-linux-musl linux_amd64_musl "linux && amd64 && musl" "$unix"
archive aarch64-linux-musl linux_arm64_musl "linux && arm64 && musl" "$unix"
archive x86_64-windows windows_amd64 "windows && amd64" "-lkernel32 -lntdll -luserenv -lws2_32 -ldbghelp -lm"
[ -n "$has" ] || {
    echo "go-archives: $dist has no archive of version $version" >&2
    exit 1
}
cp "$root"/include/*.h "$module/"
[ "$(head -n 1 "$module/link_shared.go")" = "//go:build cgo && !petal_static" ]
{
    echo "//go:build cgo && !petal_static && (petal_system || !($has))"
    tail -n +2 "$root/bindings/go/link_shared.go"
} >"$module/link_shared.go"
