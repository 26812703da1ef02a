#!/bin/sh
# install.sh BUILD_DIRECTORY PREFIX [DESTDIR]: `cmake --install`, which also notes in the build directory what was
# installed there, for uninstall.sh: another prefix, or another option, may put other files, or the same elsewhere.
set -eu
build=$(cd "$1" && pwd)
prefix=$2
destdir=${3-}
DESTDIR="$destdir" cmake --install "$build" --prefix "$prefix"
[ -f "$build/install_manifest.txt" ] || exit 0
noted=$build/installed/$(printf '%s\n%s' "$destdir" "$prefix" | cksum | cut -d ' ' -f 1)
mkdir -p "$build/installed"
touch "$noted"
# What an earlier version, or more options, installed there is not forgotten.
sort -u "$noted" - <"$build/install_manifest.txt" >"$noted.new"
mv "$noted.new" "$noted"
