#!/bin/bash
# wheels-test.sh CARGO_TARGET_DIRECTORY FOLDER: tries what packaging/wheels.sh wrote into FOLDER. Each wheel is looked
# at: what it asks of the system, and whether it keeps to Python's stable interface. The one for this machine is
# installed into empty environments, with NumPy, pyarrow, polars and pandas and without them, and the binding's tests
# run there. Debian's Python runs a program with that for aarch64 in qemu-user. Those for musl are looked at only. The
# source distribution is compiled, and a program runs with it.
set -uo pipefail
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/.." && pwd)
target=$(cd "$1" && pwd)
wheels=$(cd "$2" && pwd)
unset DESTDIR PYTHONPATH LD_LIBRARY_PATH CARGO_TARGET_DIR MAKEFLAGS MAKELEVEL MFLAGS
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
log=$work/log
. "$root/tests/packaging/checks.sh"
. "$root/packaging/targets.sh"
wheel_tools || { echo "skipped: wheels: pip does not bring the tools that look at them"; finish; }
cat >"$work/program.py" <<'PROGRAM'
import os, petal, tempfile
seen = petal.Filter(1000, 0.01)
seen.add("apple")
seen.update(range(100))
path = os.path.join(tempfile.mkdtemp(), "seen.petal")
seen.save(path)
with petal.Filter.open(path) as mapped:
    assert "apple" in mapped and 17 in mapped and all(mapped.contains([1, 2, 99]))
    print("apple:", "apple" in mapped, "pear:", "pear" in mapped)
PROGRAM
answers() {
    said=$("$@") || return
    [ "$said" = "apple: True pear: False" ] || { echo "it says: $said"; return 1; }
}
# allowed: only libraries that its tag allows, and no symbol above its floor.
allowed() {
    "$tools/bin/auditwheel" show "$wheel" >"$work/said" 2>&1 || { cat "$work/said"; return 1; }
    cat "$work/said"
    tr '\n' ' ' <"$work/said" | grep -q "following platform tag: *\"$1_${one%%-*}\""
}
stable() { "$tools/bin/abi3audit" --strict "$wheel"; }
only_init() {
    objdump -T "$work/$one"/petal/_petal.abi3.so 2>/dev/null | grep -v UND | awk '/ g /{ print $NF }' >"$work/named"
    # Another processor's file is read by readelf.
    [ -s "$work/named" ] || readelf --dyn-syms -W "$work/$one"/petal/_petal.abi3.so |
        awk '$7 != "UND" && $5 == "GLOBAL" { print $8 }' >"$work/named"
    diff "$work/named" <(echo PyInit__petal)
}
# environment NAME PACKAGES...: an empty one, with the wheel.
environment() {
    local name=$1
    shift
    python3 -m venv "$work/$name" &&
        "$work/$name/bin/pip" install --quiet --disable-pip-version-check "$wheel" pytest "$@"
}
suite() {
    mkdir "$work/of-$1" && (cd "$root/bindings/python" && cp -R tests examples pyproject.toml "$work/of-$1/") &&
        cd "$work/of-$1/tests" && "$work/$1/bin/python" -m pytest -q -p no:cacheprovider .
}
in_emulator() {
    local system=$target/packages/python-aarch64
    if [ ! -d "$system" ]; then
        mmdebstrap --variant=extract --architectures=arm64 --include=python3 bookworm "$work/python" >/dev/null 2>&1 &&
            mkdir -p "$target/packages" && mv "$work/python" "$system" || return
    fi
    answers qemu-aarch64 -L "$system" -E PYTHONPATH="$work/$one" -E PYTHONHOME="$system/usr" \
        "$system/usr/bin/python3.11" "$work/program.py"
}

for one in $all_targets; do
    case $one in
    *-gnu) wheel=$(ls "$wheels"/*manylinux*"${one%%-*}"*.whl 2>/dev/null) floor_tag=manylinux_2_17 ;;
    *-musl) wheel=$(ls "$wheels"/*musllinux*"${one%%-*}"*.whl 2>/dev/null) floor_tag=musllinux_1_2 ;;
    *) continue ;;
    esac
    of="$one: "
    [ -s "$wheel" ] || { echo "skipped: $one: there is no wheel for it"; continue; }
    mkdir "$work/$one" && (cd "$work/$one" && unzip -q "$wheel")
    check "auditwheel agrees with its tag" allowed "$floor_tag"
    check "abi3audit finds nothing outside of Python's stable interface" stable
    check "it exports nothing but the module" only_init
    case $one in
    "$(uname -m)-linux-gnu")
        must "it is installed where there is nothing else" environment plain
        check "a program runs" answers "$work/plain/bin/python" "$work/program.py"
        check "the tests pass without NumPy and the like" suite plain
        if environment whole numpy pyarrow polars pandas; then
            check "the tests pass with NumPy, pyarrow, polars and pandas" suite whole
        else
            echo "skipped: $one: the tests with NumPy and the like: pip does not find them"
        fi
        ;;
    *-gnu)
        if has qemu-aarch64 && has mmdebstrap; then
            check "a program runs in an emulator" in_emulator
        else
            echo "skipped: $one: running it takes qemu-aarch64 and mmdebstrap (Debian: qemu-user, mmdebstrap)"
        fi
        ;;
    *) echo "skipped: $one: running it takes a Python for musl" ;;
    esac
done
of="the source distribution: "
source_installed() {
    python3 -m venv "$work/compiled" &&
        "$work/compiled/bin/pip" install --quiet --disable-pip-version-check "$wheels"/petal_filter-*.tar.gz
}
if [ -e "$wheels/petal_filter-$version.tar.gz" ]; then
    must "it is compiled and installed" source_installed
    check "a program runs" answers "$work/compiled/bin/python" "$work/program.py"
fi
finish
