#!/bin/sh
# run.sh [CARGO_TARGET]: the library, the command and the tests of files and of images in place, as Windows programs
# under Wine. A Wine that is not Windows proves what the code does with the calls, and not what Windows does.
#
# Needs g++-mingw-w64-x86-64, wine64 and Rust's standard library for x86_64-pc-windows-gnu. Where one of them is
# missing, it says so and does nothing.
set -eu
cd "$(dirname "$0")/../.."
triple=x86_64-pc-windows-gnu

not_run() {
    echo "windows: not run: $1"
    exit 0
}

command -v x86_64-w64-mingw32-gcc >/dev/null || not_run "there is no mingw (Debian: gcc-mingw-w64-x86-64)"
command -v x86_64-w64-mingw32-g++ >/dev/null || not_run "there is no C++ compiler (Debian: g++-mingw-w64-x86-64)"
command -v wine >/dev/null || not_run "there is no wine (Debian: wine wine64)"
[ -d "$(rustc --print target-libdir --target $triple)" ] || { command -v rustup && rustup target add $triple; } ||
    not_run "rustc has no $triple, and rustup cannot get it"

target=$(realpath -m "${1:-${CARGO_TARGET_DIR:-target}}")
CARGO_TARGET_DIR=$target/windows
work=$CARGO_TARGET_DIR/work
rm -rf "$work"
mkdir -p "$work"
WINEPREFIX=$CARGO_TARGET_DIR/wine
WINEDEBUG=-all
WINEPATH="Z:$work"
# Not optimised: what is tested here is the system's calls.
CARGO_PROFILE_DEV_OPT_LEVEL=0
CARGO_PROFILE_DEV_DEBUG=0
export CARGO_TARGET_DIR WINEPREFIX WINEDEBUG WINEPATH CARGO_PROFILE_DEV_OPT_LEVEL CARGO_PROFILE_DEV_DEBUG
programs=$CARGO_TARGET_DIR/$triple/debug

x86_64-w64-mingw32-gcc -O1 -shared -o "$work/bcryptprimitives.dll" tests/windows/bcryptprimitives.c -ladvapi32
cargo build --locked -p petal-capi -p petal-cli --target $triple
cp "$programs/petal.dll" "$programs/petal.exe" "$work"
x86_64-w64-mingw32-gcc -std=c11 -O1 -Wall -Wextra -Werror -Iinclude tests/windows/program.c -o "$work/program.exe" \
    "$programs/libpetal.dll.a"
tests=$(cargo test --locked --profile dev --target $triple -p petal --lib --test suite --no-run 2>&1 |
    tee /dev/stderr | sed -n 's/^ *Executable .*(\(.*\.exe\))$/\1/p')
[ -n "$tests" ] || { echo "windows: no tests were built" >&2; exit 1; }

for test in $tests; do
    echo "windows: $test"
    wine "$test" storage:: error:: in_place:: conformance::images_are
done

cd "$work"
echo "windows: a C program and the command"
wine ./program.exe

# A writer that is killed leaves a dirty image and no lock.
printf 'alice\nbob\n' >keys
cp sét.petal held.petal
wine ./program.exe hold held.petal >held &
writer=$!
until grep -q held held; do
    kill -0 $writer
    sleep 0.2
done
fails() {
    ! wine ./petal.exe "$@" 2>said || { echo "windows: petal $* succeeds" >&2; exit 1; }
}
fails insert held.petal keys
grep -q 'open for writing' said
kill -9 $writer
wait $writer || true
fails verify held.petal
wine ./petal.exe vouch held.petal
wine ./petal.exe insert held.petal keys
wine ./petal.exe verify held.petal
wine ./petal.exe check held.petal keys | tr -d '\r' | cmp - keys
cd - >/dev/null
tests/packaging/windows.sh "$CARGO_TARGET_DIR/package" "$work"
echo "windows: passed"
