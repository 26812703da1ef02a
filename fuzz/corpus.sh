#!/bin/sh
# corpus.sh unpack TARGET FOLDER: fills a new folder with the target's inputs. They are those of corpus/TARGET.tar, and
# those that other committed files give: tests/golden for the decoder, tests/formats for foreign.
#
# corpus.sh add TARGET FILE...: adds inputs to corpus/TARGET.tar. The archive's bytes depend on the inputs alone (GNU
# tar).
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")"
archive=corpus/${2-}.tar

# A file of another system: the format's name and a line's end come before it. Long ones are left out, because they take
# longer and find no more.
unpack_formats() {
    while read -r format file _; do
        case $format in '' | '#'*) continue ;; esac
        longest=1024
        # No filter in shards is shorter.
        [ "$format" != erigon_shards ] || longest=6400
        [ "$(wc -c <"../tests/formats/$file")" -lt "$longest" ] || continue
        { echo "$format"; cat "../tests/formats/$file"; } >"$1/$format-$(basename "$file" .bin)"
    done <../tests/formats/vectors.txt
}

unpack() {
    rm -rf "$2"
    mkdir -p "$2"
    [ ! -e "$archive" ] || tar -xf "$archive" -C "$2"
    case $1 in
    decoder)
        for images in ../tests/golden/*.tar ../tests/golden/*/*.tar; do tar -xf "$images" -C "$2"; done
        cp ../tests/golden/digests/*.petal "$2"
        ;;
    foreign)
        unpack_formats "$2"
        ;;
    esac
}

add() {
    shift
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    [ ! -e "$archive" ] || tar -xf "$archive" -C "$folder"
    cp "$@" "$folder"
    (cd "$folder" && ls) | tar --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 \
        -cf "$archive.unfinished" -C "$folder" -T -
    mv "$archive.unfinished" "$archive"
}

case ${1-} in
unpack) unpack "$2" "$3" ;;
add)
    shift
    add "$@"
    ;;
*)
    echo "usage: corpus.sh unpack TARGET FOLDER | corpus.sh add TARGET FILE..." >&2
    exit 2
    ;;
esac
