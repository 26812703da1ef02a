#!/bin/sh
# style.sh [FILE...]: checks what no compiler and no formatter looks at, in these files or in all committed sources:
# lines of more than 120 columns, and comments that are only a phrase with a pronoun, such as "Its name.", which say
# nothing to someone who has not read what is around them. It prints each place, and fails if there is one.
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."

# offences FILE...: prints what is wrong in files. Consecutive comment lines are one comment.
offences() {
    awk '
        function end_comment() {
            count = split(comment, words, " ")
            if (count > 0 && count <= 4 && comment ~ /\.$/ &&
                words[1] ~ /^(Its|It|Their|They|Them|That|Those|This|These)$/)
                print where ": a comment that is a pronoun: " comment
            comment = ""
        }
        # Whether a line has a text of more than 60 letters, which stays in one piece so that it can be searched for.
        function has_text(line) {
            while (match(line, /"([^"\\]|\\.)*/)) {
                if (RLENGTH > 60) return 1
                line = substr(line, RSTART + RLENGTH + 1)
            }
            return 0
        }
        FNR == 1 { end_comment() }
        {
            line = $0
            # Only the first byte of a letter counts. A tab is one column, because readers choose how wide it is.
            gsub(/[\200-\277]/, "", line)
            if (length(line) > 120 && !has_text(line)) print FILENAME ":" FNR ": " length(line) " columns"
        }
        FILENAME ~ /\.(rs|c|h|hpp|cpp|cc|go)$/ {
            text = $0
            if (sub(/^[ \t]*(\/\/[\/!]?|\/\*\*?|\*)[ \t]*/, "", text)) {
                sub(/[ \t]*\*\/$/, "", text)
                if (comment == "") where = FILENAME ":" FNR
                comment = comment == "" ? text : comment " " text
            } else {
                end_comment()
            }
        }
        END { end_comment() }
    ' "$@"
}

# The check is checked first: it has to see both.
sample=$(mktemp -d)
trap 'rm -rf "$sample"' EXIT
printf '%0121d\n    /// Its name.\n\n// Its name is long,\n// and so is this.\n%0120d\n' 0 0 >"$sample/sample.rs"
if [ "$(offences "$sample/sample.rs" | sed 's/.*sample.rs://' | tr '\n' '|')" != \
    '1: 121 columns|2: a comment that is a pronoun: Its name.|' ]; then
    echo "style: the check does not see what it is for" >&2
    exit 1
fi

if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046 # Names without spaces.
    set -- $(git ls-files '*.rs' '*.c' '*.h' '*.hpp' '*.cpp' '*.cc' '*.go' '*.s' '*.java' '*.py' '*.sh' '*.cmake')
fi
wrong=$(offences "$@")
[ -z "$wrong" ] || {
    echo "$wrong"
    echo "style: $(echo "$wrong" | wc -l) places" >&2
    exit 1
}
