#!/bin/sh
# sanitizers.sh [asan] [tsan] [valgrind]: the C tests under the tools that see memory errors and data races; without
# arguments, under all of them at the same time. Prints one line a check, and at the end "N passed, M failed".
#
# The tools see only code that was compiled for them, so the Rust library is compiled once more for each:
#
#   asan      AddressSanitizer and LeakSanitizer over Rust and C, UBSan over C. UBSan does not exist for Rust; Rust's
#             own checks do: overflow, and some preconditions of unsafe library functions.
#   tsan      ThreadSanitizer over Rust and C, without suppressions.
#   valgrind  Memcheck over the release code as it is. It also sees branches on uninitialised memory, and it hides
#             AVX-512 from the program, so the kernels that need that are asan's.
#
# `-Zsanitizer` is not stable, so RUSTC_BOOTSTRAP=1 turns it on here, in tests only. Rust's standard library comes
# precompiled and is not instrumented. For ASan that loses little: accesses inside the library go unchecked, but its
# allocations are malloc's. TSan would not see the synchronisation inside it and would report threads, channels and
# once-cells falsely. Petal starts no threads, and these tests are C programs on pthreads, which TSan's runtime knows.
#
# Each tool is proven first: a fault planted in the Rust code must fail, and its report must name the Rust function.
# (The exceptions: UBSan is proven by one in C, and Rust's own checks are a bonus of which no fault is planted.)
set -u
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
unset CARGO_TARGET_DIR RUSTFLAGS CARGO_ENCODED_RUSTFLAGS PETAL_TEST_SCALE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
log=$work/log
host=$(rustc -vV | sed -n 's/^host: //p')
clang=${CLANG:-clang-19}
libraries="-lpthread -ldl -lm"
# A tool that has something to report ends the program with this status, which no test uses.
found=99
passed=0
failed=0
skipped=0
begun=$(date +%s)

now() { echo "$(($(date +%s) - begun)) s"; }
say() { echo "-- $* (at $(now))"; }

pass() {
    passed=$((passed + 1))
    echo "ok: $1"
}

# fail NAME: shows the head of what was said, where the tools put the cause, and the end.
fail() {
    failed=$((failed + 1))
    echo "FAILED: $1"
    if [ "$(wc -l <"$log")" -le 120 ]; then cat "$log"; else
        head -n 80 "$log"
        echo "[...]"
        tail -n 40 "$log"
    fi | sed 's/^/    /'
}

skip() {
    skipped=$((skipped + 1))
    echo "skipped: $tool: $1: $2"
}

# check NAME COMMAND...: counts the command.
check() {
    name=$1
    shift
    if "$@" >"$log" 2>&1; then pass "$name"; else fail "$name"; fi
}

# cargo_to FOLDER ARGUMENTS...: makes FOLDER/[the target/]release/libpetal.a.
cargo_to() {
    folder=$1
    shift
    cargo rustc --release --locked --manifest-path "$root/capi/Cargo.toml" --lib --crate-type staticlib \
        --target-dir "$folder" "$@"
}

# instrumented FLAGS: the Rust library for a tool, planted faults included. --target keeps the flags from build scripts.
# Without optimisation across crates it is compiled in half of the time, and the tools see no less.
instrumented() {
    archive=$target/$tool/$host/release/libpetal.a
    archive_with_faults=$archive
    RUSTC_BOOTSTRAP=1 RUSTFLAGS=$1 CARGO_PROFILE_RELEASE_DEBUG=line-tables-only \
        CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
        cargo_to "$target/$tool" --target "$host" --features planted-faults
}

# The archive that is released, with the flags that CMake gives, so that it is compiled once for all; and one with the
# planted faults. That one proves the tool only, and is compiled in a hurry, with the flags of tests/packaging/run.sh.
# Both are as cargo makes them: the machine code is the same after capi/link.sh, but the reports' names are gone.
released() {
    archive=$target/release/libpetal.a
    archive_with_faults=$target/planted/release/libpetal.a
    (cd "$root" && cmake/cargo.sh build --release --locked -p petal-capi --target-dir "$target") || return
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        cargo_to "$target/planted" --features planted-faults
}

# compile SOURCE ARCHIVE PROGRAM: one C program, for the tool. $compiler is a command with arguments.
compile() {
    $compiler -std=c99 -g -I "$root/include" -I "$here" "$1" "$2" $libraries -o "$3"
}

# The folder that a program runs in: fresh, and open to a test that gives up its privileges.
scratch() {
    rm -rf "$work/scratch"
    mkdir "$work/scratch"
    chmod 755 "$work"
    chmod 777 "$work/scratch"
    cd "$work/scratch" || exit 1
    TMPDIR=$work/scratch
    export TMPDIR
}

# run PROGRAM ARGUMENTS...: under the tool; a program that hangs has failed.
run() (
    scratch
    timeout 1800 $runner "$@"
)

# proven NUMBER REPORT FUNCTION: the planted fault ends the program with $found, and the report has both. A function is
# named by its symbol (petal::faults::leak), or where it was inlined by its own name and its file.
proven() {
    run "$work/fault" "$1" >"$log" 2>&1
    status=$?
    name="$tool sees the planted fault $1: $2, in $3"
    if [ "$status" = $found ] && grep -q "$2" "$log" && grep -Eq "faults::$3|$3 .*/(faults\.rs|fault\.c):" "$log"; then
        pass "$name"
    else
        echo "exit status $status; \"$2\" and $3 were to be in the report above" >>"$log"
        fail "$name"
    fi
}

# unfit NAME: why a program makes no sense under the tool; nothing where it does.
unfit() {
    if [ $tool = tsan ] && ! grep -q pthread_create "$here/$1.c"; then
        echo "it starts no threads, and neither does Petal"
        return
    fi
    case $tool:$1 in
    asan:oom | tsan:oom) echo "it puts its own malloc in the place of the tool's; Valgrind and the plain run have it" ;;
    *:header_*) echo "it tests what the compiler says, not what the library does" ;;
    esac
}

# Every C file in this folder that has a main is a program, so a new one is covered without a word here.
programs() {
    say "$tool: the C tests"
    ran=0
    for source in "$here"/*.c; do
        name=$(basename "$source" .c)
        grep -q '^int main(' "$source" || continue
        reason=$(unfit "$name")
        if [ -n "$reason" ]; then
            skip "$name" "$reason"
            continue
        fi
        if ! compile "$source" "$archive" "$work/$name" >"$log" 2>&1; then
            fail "$tool: $name compiles"
            continue
        fi
        before=$(date +%s)
        run "$work/$name" >"$log" 2>&1
        status=$?
        took="$(($(date +%s) - before)) s"
        case $status in
        0) pass "$tool: $name ($took)" ;;
        77) skip "$name" "$(tail -n 1 "$log")" ;;
        *)
            echo "exit status $status" >>"$log"
            fail "$tool: $name ($took)"
            ;;
        esac
        ran=$((ran + 1))
    done
    [ $ran -gt 0 ] || { echo "no program in $here was run" >"$log"; fail "$tool: the C tests"; }
}

# stage TOOL SCALE BUILD...: compiles for the tool; then come the proofs and the programs, which divide the lengths of
# their loops by the scale.
stage() {
    tool=$1
    PETAL_TEST_SANITIZER=$tool
    PETAL_TEST_SCALE=$2
    export PETAL_TEST_SANITIZER PETAL_TEST_SCALE
    shift 2
    say "$tool: compiling the Rust library for it (half a minute the first time)"
    if ! "$@" >"$log" 2>&1; then
        fail "$tool: the library builds"
        return 1
    fi
    if ! compile "$here/sanitizers/fault.c" "$archive_with_faults" "$work/fault" >"$log" 2>&1; then
        fail "$tool: a program links"
        return 1
    fi
    say "$tool: planted faults"
    check "$tool lets a program without a fault pass, through a caught panic" run "$work/fault" 0
}

test_asan() {
    # A size past the address space must come back as a null pointer, as from any other malloc. Where Rust's own checks
    # find a broken precondition they abort without a word, since the library's panic hook is silent: ASan reports it.
    ASAN_OPTIONS=$options:detect_leaks=1:handle_abort=1:allocator_may_return_null=1:strict_string_checks=1
    UBSAN_OPTIONS=$options:print_stacktrace=1
    export ASAN_OPTIONS UBSAN_OPTIONS
    compiler="$clang -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
    runner=
    # Reports find the callers by frame pointers.
    stage asan 4 instrumented "-Zsanitizer=address -Cdebug-assertions=on -Cforce-frame-pointers=yes" || return
    proven 1 heap-buffer-overflow read_past_the_end
    proven 2 heap-use-after-free read_after_free
    proven 3 "detected memory leaks" leak
    proven 100 "signed integer overflow" main
    programs
}

test_tsan() {
    TSAN_OPTIONS=$options:allocator_may_return_null=1:second_deadlock_stack=1
    export TSAN_OPTIONS
    compiler="$clang -O1 -fsanitize=thread"
    runner=
    stage tsan 4 instrumented "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer" || return
    proven 4 "data race" race
    programs
}

test_valgrind() {
    compiler="${CC:-cc} -O1"
    runner="valgrind -q --error-exitcode=$found --leak-check=full --errors-for-leak-kinds=definite,indirect,possible"
    # A program with its own malloc, which is there to fail, keeps it.
    runner="$runner --soname-synonyms=somalloc=nouserintercepts"
    stage valgrind 50 released || return
    proven 1 "Invalid read of size 1" read_past_the_end
    proven 2 "free'd" read_after_free
    proven 3 "definitely lost" leak
    proven 5 "depends on uninitialised" branch_on_uninitialised
    programs
}

# The reports' names come from binutils, which every C compiler brings along; llvm-symbolizer is one more package.
options="exitcode=$found:external_symbolizer_path=$(command -v addr2line)"
if [ $# -eq 0 ]; then
    # In parallel: each compiles into its own directory, on one core at a time.
    say "under asan, tsan and valgrind: about a minute and a half in all on two cores; what they say comes at the end"
    for tool in asan tsan valgrind; do
        CARGO_TARGET_DIR=$target "$here/sanitizers.sh" $tool >"$work/$tool.output" 2>&1 &
    done
    wait
    # Each ends with what it counted.
    for tool in asan tsan valgrind; do
        sed '$d' "$work/$tool.output"
        summary=$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$work/$tool.output")
        if [ -n "$summary" ]; then
            passed=$((passed + ${summary% *}))
            failed=$((failed + ${summary#* }))
        else
            failed=$((failed + 1))
            echo "FAILED: $tool ended before its summary: $(tail -n 1 "$work/$tool.output")"
        fi
    done
    say "done"
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
fi
say "under $*"
for wanted in "$@"; do
    case $wanted in
    asan | tsan | valgrind) "test_$wanted" ;;
    *)
        echo "usage: sanitizers.sh [asan] [tsan] [valgrind]" >&2
        exit 2
        ;;
    esac
done
say "done, $skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
