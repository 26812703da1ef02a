#!/bin/sh
# The exported symbols, of which capi/petal.map is the reviewed list.
#
#   symbols.sh header   prints the functions that include/petal.h declares, sorted
#   symbols.sh map      prints the functions that capi/petal.map lists, sorted
#   symbols.sh write    rewrites capi/petal.map so that it lists what the header declares
#
# A symbol keeps the version node it was first listed under, because programs are linked against symbol *and* node.
# A new symbol joins the node of the current version (PETAL_<major>.<minor>, from the workspace's Cargo.toml).
set -eu
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
map=$here/petal.map
header=$here/../include/petal.h

# The preprocessor removes comments and macros. Then bodies in braces go, and of what remains each statement that is
# neither a typedef nor a static function declares at most one function: the first name before a parenthesis.
declared() {
    ${CC:-cc} -E -P -x c "$header" | awk '
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
                    print name
                }
                statement = ""
            }
        }' | sort -u
}

# Lines of "node symbol", in the order of the file.
listed() {
    awk '/^PETAL_/ { node = $1 } /^ *petal_[a-z0-9_]+;/ { name = $1; sub(/;.*/, "", name); print node, name }' "$map"
}

rewrite() {
    current=PETAL_$(sed -n 's/^version = "\([0-9]*\.[0-9]*\).*/\1/p' "$here/../Cargo.toml" | head -n 1)
    { listed; echo END; declared; } | awk -v current="$current" '
        $1 == "END" && NF == 1 { reading_header = 1; next }
        !reading_header { home[$2] = $1; if (!($1 in known)) { known[$1] = 1; nodes[++n] = $1 }; next }
        {
            node = ($1 in home) ? home[$1] : current
            if (!(node in known)) { known[node] = 1; nodes[++n] = node }
            members[node] = members[node] "    " $1 ";\n"
        }
        END {
            for (i = 1; i <= n; i++) {
                if (members[nodes[i]] == "") continue
                printf "%s%s {\n  global:\n%s", (before == "") ? "" : "\n", nodes[i], members[nodes[i]]
                if (before == "") printf "  local:\n    *;\n};\n"
                else printf "} %s;\n", before
                before = nodes[i]
            }
        }' >"$map.new"
    mv "$map.new" "$map"
}

case ${1-} in
header) declared ;;
map) listed | cut -d ' ' -f 2 | sort ;;
write) rewrite ;;
*) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
