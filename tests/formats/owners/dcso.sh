#!/bin/sh
# Filters of DCSO's command `bloom`; README.md says how it is called and what it prints.
set -eu
mode=$1
folder=$2
shift 2

texts() { # PREFIX COUNT
    [ "$2" -eq 0 ] || seq -f "$1-%.0f" 0 $(($2 - 1))
}
count() { # FILE PREFIX COUNT
    texts "$2" "$3" | bloom check "$folder/$1" | wc -l
}

if [ "$mode" = write ]; then
    mkdir -p "$folder/dcso"
    for size in "$@"; do
        rest=${size#*:}
        keys=${size%%:*} capacity=${rest%:*} rate=${rest#*:}
        file=dcso/$keys.bin
        bloom create -n "$capacity" -p "$rate" "$folder/$file"
        [ "$keys" -eq 0 ] || texts key "$keys" | bloom insert "$folder/$file"
        echo "dcso $file $keys $(count "$file" absent 10000) $capacity $rate - 0"
    done
    exit
fi

status=0
while read -r format file keys expected _; do
    [ "$format" = dcso ] || continue
    found=$(count "$file" key "$keys")
    positives=$(count "$file" absent 10000)
    said=same
    [ "$found $positives" = "$keys $expected" ] || said=OTHER status=1
    echo "$said $file: $found keys, $positives positives"
done <"$folder/vectors.txt"
exit $status
