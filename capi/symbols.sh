#!/bin/sh
# The exported symbols, of which capi/petal.map is the reviewed list.
#
#   symbols.sh header   prints the functions that the headers in include declare, sorted
#   symbols.sh declarations   prints their declarations
#   symbols.sh map      prints the functions that capi/petal.map lists, sorted
#   symbols.sh check    fails if capi/petal.map is not what `write` would make of it
#   symbols.sh write    rewrites capi/petal.map so that it lists what the headers declare
#
# A symbol keeps the version node it was first listed under, because programs are linked against symbol *and* node.
# A new symbol joins the node of the current version (PETAL_<major>.<minor>, from the workspace's Cargo.toml).
#
# A header whose first line has the word "experimental" may still change: its functions stand under PETAL_EXPERIMENTAL,
# until they move to another header. PETAL_INCLUDE and PETAL_MAP name another folder and map, for a test.
set -eu
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
map=${PETAL_MAP-$here/petal.map}
include=${PETAL_INCLUDE-$here/../include}
experimental=PETAL_EXPERIMENTAL

# The preprocessor removes comments and macros. Then bodies in braces go, and of what remains each statement that is
# neither a typedef nor a static function declares at most one function: the first name before a parenthesis. Each comes
# with its name before it.
declarations() {
    for header; do echo "#include \"$header\""; done |
    ${CC:-cc} -E -P -x c -I "$include" -DPETAL_INLINE_PORTABLE - | awk '
        { text = text $0 "\n" }
        END {
            depth = 0
            count = length(text)
            for (i = 1; i <= count; i++) {
                c = substr(text, i, 1)
                if (c == "{") depth++
                else if (c == "}") { depth--; if (depth == 0) c = ";"; else continue }
                if (depth > 0) continue
                if (c != ";") { statement = statement c; continue }
                if (statement !~ /(^|[^a-z_])(typedef|static)[^a-z_]/ && match(statement, /petal_[a-z0-9_]+[ \n]*\(/)) {
                    name = substr(statement, RSTART, RLENGTH)
                    sub(/[ \n]*\($/, "", name)
                    gsub(/[ \n]+/, " ", statement)
                    sub(/^.*extern "C" */, "", statement)
                    print name statement
                }
                statement = ""
            }
        }' | sort -u
}

declared() { declarations "$@" | cut -d ' ' -f 1; }

# Lines of "node symbol", in the order of the file.
listed() {
    awk '/^PETAL_/ { node = $1 } /^ *petal_[a-z0-9_]+;/ { name = $1; sub(/;.*/, "", name); print node, name }' "$map"
}

# The headers whose first line says that they are experimental, or with "not" all the others.
headers() {
    for header in "$include"/*.h; do
        if sed -n 2p "$header" | grep -qi experimental; then is=; else is=not; fi
        [ "$is" != "${1-}" ] || echo "$header"
    done
}

# What petal.map should be.
rewritten() {
    current=PETAL_$(sed -n 's/^version = "\([0-9]*\.[0-9]*\).*/\1/p' "$here/../Cargo.toml" | head -n 1)
    { listed; echo STABLE; declared $(headers not); echo ALL; declared "$include"/*.h; } |
    awk -v current="$current" -v experimental="$experimental" '
        NF == 1 && ($1 == "STABLE" || $1 == "ALL") { part = $1; next }
        part == "" && $1 == experimental { next }
        part == "" { home[$2] = $1; if (!($1 in known)) { known[$1] = 1; nodes[++n] = $1 }; next }
        part == "STABLE" { stable[$1] = 1; next }
        {
            node = !($1 in stable) ? experimental : ($1 in home) ? home[$1] : current
            if (!(node in known)) { known[node] = 1; nodes[++n] = node }
            members[node] = members[node] "    " $1 ";\n"
        }
        END {
            for (i = 1; i <= n; i++) {
                if (members[nodes[i]] == "") continue
                printf "%s%s {\n  global:\n%s", (before == "") ? "" : "\n", nodes[i], members[nodes[i]]
                if (before == "") printf "  local:\n    *;\n};\n"
                else if (nodes[i] == experimental) printf "};\n"
                else printf "} %s;\n", before
                if (nodes[i] != experimental) before = nodes[i]
            }
        }'
}

case ${1-} in
header) declared "$include"/*.h ;;
declarations) declarations "$include"/*.h | cut -d ' ' -f 2- ;;
map) listed | cut -d ' ' -f 2 | sort ;;
check) rewritten | diff -u "$map" - ;;
write) rewritten >"$map.new" && mv "$map.new" "$map" ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
