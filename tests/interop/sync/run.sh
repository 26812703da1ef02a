#!/bin/sh
# run.sh CARGO_TARGET_DIRECTORY: `petal sync` between two network namespaces with a slow link between them: two files of
# 10^6 lines that differ in 100 are compared, and then made equal, with at most 4 kB on the wire besides the lines.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
. "$here/../lib.sh"
target=$1
needs ip python3
a=petal-a-$$
b=petal-b-$$
ip netns add "$a" 2>/dev/null || skip "network namespaces need root"
work=$(mktemp -d)
trap 'ip netns del "$a"; ip netns del "$b" 2>/dev/null; rm -rf "$work"' EXIT
ip netns add "$b" && ip -n "$a" link add veth0 type veth peer name veth0 netns "$b" 2>/dev/null ||
    skip "there are no virtual links between namespaces"
ip -n "$a" addr add 10.93.0.1/24 dev veth0
ip -n "$b" addr add 10.93.0.2/24 dev veth0
for namespace in "$a" "$b"; do
    ip -n "$namespace" link set lo up
    ip -n "$namespace" link set veth0 up
done

# Compiled as CMake does it, so that the command is not compiled again.
(cd "$root" &&
    cmake/cargo.sh build --locked --release -p petal-cli --target-dir "$target") || exit 1
petal=$target/release/petal
seq 1000000 >"$work/ours"
seq 51 1000050 | sort -R --random-source=/dev/zero >"$work/theirs"

# between OPTIONS: runs both sides with these options, the link between them.
between() {
    ip netns exec "$b" "$petal" sync $1 "$work/theirs" --listen 127.0.0.1:7000 >"$work/there" 2>"$work/there.log" &
    far=$!
    ip netns exec "$b" python3 "$here/slow.py" 7001 7000 &
    relay=$!
    status=111
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 1
        ip netns exec "$b" sh -c 'grep -q " 00000000:1B59 .* 0A " /proc/net/tcp' && break
    done
    ip netns exec "$a" "$petal" sync --json $1 "$work/ours" --connect 10.93.0.2:7001 >"$work/here" 2>"$work/report"
    status=$?
    wait "$far" "$relay"
    return "$status"
}

# The side that connects reports in JSON, the one that listens in lines.
differ() {
    between "" && return 1
    sed -n 's/^{"side":"\(.*\)","key":"\(.*\)"}$/\1 \2/p' "$work/here" | sort >"$work/here.sorted"
    [ "$(grep -c '^here ' "$work/here.sorted") $(grep -c '^there ' "$work/here.sorted")" = "50 50" ] || return 1
    sed 's/^>/here/; s/^</there/' "$work/there" | sort | cmp - "$work/here.sorted"
}

few_bytes() {
    cat "$work/report"
    python3 - "$work/report" <<'EOF'
import json, sys
report = json.load(open(sys.argv[1]))
beside = report["sent_bytes"] + report["received_bytes"]
print(beside, "bytes beside the lines")
sys.exit(beside > 4000 or (report["only_here"], report["only_there"]) != (50, 50))
EOF
}

become_equal() {
    between --exchange || return 1
    "$petal" diff "$work/ours" "$work/theirs" && [ "$(sort -n "$work/theirs" | tail -n 1)" = 1000050 ]
}

check "both sides learn what differs" differ
check "the wire has at most 4 kB beside the lines" few_bytes
check "both files become equal" become_equal
check "then nothing differs" between ""
finish
