#!/bin/sh
# Filters that DCSO's command `bloom` writes: dcso.sh FOLDER. See vectors.txt for what it prints.
set -eu
mkdir -p "$1/dcso"
make() { # KEYS CAPACITY RATE
    file=$1.bin
    bloom create -n "$2" -p "$3" "$folder/dcso/$file"
    [ "$1" -eq 0 ] || seq -f 'key-%.0f' 0 $(($1 - 1)) | bloom insert "$folder/dcso/$file"
    positives=$(seq -f 'absent-%.0f' 0 9999 | bloom check "$folder/dcso/$file" | wc -l)
    echo "dcso dcso/$file $1 $positives $2 $3 - 0"
}
folder=$1
make 1000 1000 0.01
make 17 17 0.001
make 0 500 0.03
