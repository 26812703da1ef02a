#!/bin/sh
# run.sh [CARGO_TARGET] [rust|command|system|go|package]...: the Rust suite, the command's tests, programs that are
# killed and that share, pure Go, and the package with the C and C++ tests, as Windows programs under Wine. A Wine that
# is not Windows proves what the code does with the calls, and not what Windows does.
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
[ $# = 0 ] || shift
parts=${*:-rust command system go package}
CARGO_TARGET_DIR=$target/windows
work=$CARGO_TARGET_DIR/work
rm -rf "$work"
mkdir -p "$work"
WINEPREFIX=$CARGO_TARGET_DIR/wine
WINEDEBUG=-all
WINEPATH="Z:$work"
CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine
export CARGO_TARGET_DIR WINEPREFIX WINEDEBUG WINEPATH CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER
# Tests with their checks, optimised as little as mutants are.
cross="--locked --profile quick --target $triple"
programs=$CARGO_TARGET_DIR/$triple/quick

x86_64-w64-mingw32-gcc -O1 -shared -o "$work/bcryptprimitives.dll" tests/windows/bcryptprimitives.c -ladvapi32

# The whole suite. The tests themselves leave out what only Unix has, each with its reason.
rust() {
    cargo test $cross --no-fail-fast -p petal -p petal-suite --lib --test suite -- --include-ignored
}

# The tests themselves leave out what goes through Bash, named pipes and signals, and permissions of Unix.
command_tests() {
    cargo test $cross --no-fail-fast -p petal-cli
}

# fails ARGUMENT...: the command fails, and `said` has its message.
fails() {
    ! wine ./petal.exe "$@" 2>said || { echo "windows: petal $* succeeds" >&2; exit 1; }
}

# killed WHAT PATH LINES: lets a program write until it has said LINES lines, kills it, and keeps the last in `count`.
killed() {
    wine ./program.exe "$1" "$2" "$count" >written &
    writer=$!
    until [ "$(wc -l <written)" -ge "$3" ]; do kill -0 $writer; done
    kill -9 $writer
    wait $writer || true
    count=$(tr -d '\r' <written | sed -n '$!p' | tail -n 1)
}

# The library's calls of the system: names, handles, killed writers, two processes, a full disk.
system() {
    cargo build $cross -p petal-capi -p petal-cli
    cp "$programs/petal.dll" "$programs/petal.exe" "$work"
    x86_64-w64-mingw32-gcc -std=c11 -O1 -Wall -Wextra -Werror -Iinclude tests/windows/program.c -o "$work/program.exe" \
        "$programs/libpetal.dll.a"
    cd "$work"
    echo "windows: a C program and the command"
    wine ./program.exe

    # A writer that is killed leaves an unclean image and no lock.
    printf 'alice\nbob\n' >keys
    cp sét.petal held.petal
    wine ./program.exe hold held.petal >held &
    writer=$!
    until grep -q held held; do
        kill -0 $writer
        sleep 0.2
    done
    fails insert held.petal keys
    grep -q 'open for writing' said
    kill -9 $writer
    wait $writer || true
    fails verify held.petal
    wine ./petal.exe mark-clean held.petal
    wine ./petal.exe insert held.petal keys
    wine ./petal.exe verify held.petal
    wine ./petal.exe check held.petal keys | tr -d '\r' | cmp - keys

    # Writers that are killed again and again, wherever they are: what they flushed is there.
    echo "windows: killed writers"
    cp sét.petal killed.petal
    count=1000
    unclean=0
    for lines in 3 9 5 17 4 8 33 6 7 12 21 3 10 5 14 9 28 4 11 6; do
        killed write killed.petal $lines
        state=$(wine ./program.exe check killed.petal "$count" | tr -d '\r')
        [ "$state" != unclean ] || unclean=$((unclean + 1))
        wine ./petal.exe mark-clean killed.petal
    done
    echo "windows: 20 writers were killed, $unclean images were unclean, all had their $count keys"
    [ $unclean -gt 0 ] || { echo "windows: no image was ever unclean" >&2; exit 1; }
    wine ./petal.exe verify killed.petal

    echo "windows: two processes share an image"
    cp sét.petal shared.petal
    wine ./program.exe share shared.petal 1000 &
    sharer=$!
    wine ./program.exe share shared.petal 2000
    wait $sharer
    [ "$(wine ./program.exe check shared.petal 3000 | tr -d '\r')" = clean ]

    # A full disk, where this may make one: the old file stays, and nothing else.
    mkdir small
    if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=256k none small 2>/dev/null; then
        echo "windows: a full disk"
        cp sét.petal small/filter.petal
        status=0
        wine ./program.exe full small/filter.petal 0 && cmp sét.petal small/filter.petal || status=1
        left=$(ls -A small)
        umount small
        [ $status = 0 ] && [ "$left" = filter.petal ] || { echo "windows: a full disk leaves: $left" >&2; exit 1; }
    fi

    # Savers that are killed: the file is the old one or the new one, and the next save removes what was left.
    mkdir saved
    count=1000
    for lines in 3 9 5 17 4; do
        killed save saved/filter.petal $lines
        [ "$(wine ./program.exe check saved/filter.petal "$count" | tr -d '\r')" = clean ]
        wine ./petal.exe verify saved/filter.petal
    done
    wine ./program.exe once saved/filter.petal "$count"
    [ "$(ls -A saved)" = filter.petal ] || { echo "windows: files are left: $(ls -A saved)" >&2; exit 1; }

    cd - >/dev/null
}

# Go looks for the library that Wine lacks in the system's folder only.
go_tests() {
    command -v go >/dev/null || { echo "windows: there is no Go"; return; }
    wine hostname >/dev/null
    cp "$work/bcryptprimitives.dll" "$WINEPREFIX/drive_c/windows/system32"
    # Left out are three tests of package filter that pass: Wine 8 does not have the call by which Go removes their
    # folders afterwards. Forged bytes take long in internal/image and are the same code on every system.
    cd bindings/go
    GOOS=windows CGO_ENABLED=0 go test -short -exec wine ./view ./internal/sizing
    GOOS=windows CGO_ENABLED=0 go test -short -exec wine -skip \
        'TestGoldenFilesAreMadeAgain|TestAClosedFilterSaysSo|TestFilesAreReplacedAsAWhole' ./filter
    cd bloom
    GOOS=windows CGO_ENABLED=0 go test -short -exec wine ./...
    cd ../../..
}

package() {
    tests/packaging/windows.sh "$CARGO_TARGET_DIR/package" "$work"
}

for part in $parts; do
    began=$(date +%s)
    echo "windows: $part"
    case $part in
    rust | system | package) $part ;;
    command | go) ${part}_tests ;;
    *) echo "windows: there is no part $part" >&2; exit 1 ;;
    esac
    echo "windows: $part took $(($(date +%s) - began)) s"
done
echo "windows: passed: $parts"
