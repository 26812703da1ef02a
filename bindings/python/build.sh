#!/bin/sh
# build.sh BUILD_DIRECTORY WORK_DIRECTORY: compiles the Python package over the built library, which it installs into
# WORK_DIRECTORY/prefix, and puts it into WORK_DIRECTORY/petal. It takes no pip. PYTHON names another Python.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
rm -rf "$work/prefix" "$work/petal"
cmake --install "$1" --prefix "$work/prefix" >"$work/install.log"
if ! { cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release \
    -DPython_EXECUTABLE="$(command -v "${PYTHON-python3}")" -DCMAKE_C_FLAGS="${CFLAGS-}" &&
    cmake --build "$work/build" --parallel 2 &&
    cmake --install "$work/build" --prefix "$work"; } >"$work/build.log" 2>&1; then
    cat "$work/build.log" >&2
    exit 1
fi
