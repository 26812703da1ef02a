#!/bin/sh
# A hundred texts, looked for in all files of a folder: by `petal index`, and one of them by grep.
#
#     benches/files.sh FOLDER [PETAL]
#
# The texts are pieces of lines of the folder's files. The index names the files that may have a text, and `grep -lF`
# reads only these. The script compares the answers for the first five texts with those of grep over all files, and
# fails if they differ.
set -eu
folder=$1 petal=${2:-target/release/petal}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seconds() { date +%s.%N; }
since() { echo "$(seconds) $1" | awk '{ printf "%.3f", $1 - $2 }'; }

# Pieces of 12 to 24 bytes, each from another line, without tabs and backslashes, which awk would read in its own way.
find "$folder" -type f -print0 | sort -z | xargs -0 cat | grep -a -E '^[ -[^-~]{24,}$' > "$work/lines"
step=$(($(wc -l < "$work/lines") / 101 + 1))
awk -v step="$step" 'NR % step == 0 { print substr($0, 3, 12 + NR % 13) }' "$work/lines" | awk '!seen[$0]++' |
    head -n 100 > "$work/texts"

start=$(seconds)
"$petal" index build --format files -o "$work/index" "$folder"
echo "$(find "$folder" -type f | wc -l) files, $(du -sb "$folder" | cut -f 1) bytes, built in $(since "$start") s;" \
    "the index has $(wc -c < "$work/index") bytes"

text=$(head -n 1 "$work/texts")
grep -rlF -e "$text" "$folder" > /dev/null || true
start=$(seconds)
grep -rlF -e "$text" "$folder" > /dev/null || true
echo "grep -rlF, one text, files in memory: $(since "$start") s"

start=$(seconds)
"$petal" index search --queries "$work/texts" "$work/index" > "$work/found" || true
echo "petal index search, $(wc -l < "$work/texts") texts: $(since "$start") s," \
    "$(wc -l < "$work/found") files to read"

start=$(seconds)
while IFS= read -r text; do
    awk -F '\t' -v text="$text" '$1 == text { print $2 }' "$work/found" | tr '\n' '\0' |
        xargs -0 -r grep -lF -e "$text" || true
done < "$work/texts" > "$work/exact"
echo "all texts, the files read by grep -lF: $(since "$start") s, $(wc -l < "$work/exact") of these files have the text"

head -n 5 "$work/texts" | while IFS= read -r text; do
    grep -rlF -e "$text" "$folder" | sort > "$work/all"
    awk -F '\t' -v text="$text" '$1 == text { print $2 }' "$work/found" | tr '\n' '\0' |
        xargs -0 -r grep -lF -e "$text" | sort > "$work/some"
    cmp "$work/all" "$work/some"
done
