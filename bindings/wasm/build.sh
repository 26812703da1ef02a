#!/bin/sh
# build.sh [TARGET [MODULE]]: compiles the modules, or one of them, into bindings/wasm/dist, and says how large
# they are.
#
# petal.wasm has every kind of filter and map. reader.wasm opens images of a few kinds and looks keys up; READER names
# the kinds. Each also comes as a module with SIMD128. WASM_OPT=1 also runs wasm-opt, of Debian's binaryen.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=${1:-"$here/../../target"}
only=${2-}
reader=${READER:-blocked,split_block,fuse,ribbon,golomb}
filters="bloom split_block blocked fuse counting scalable ribbon golomb hash_compaction signatures exact_bits cuckoo
    quotient vector_quotient spectral d_left variable_increment layered removed_set taffy aleph age_partitioned stable
    rotating exact_set stacked"
maps="bloomier retrieval approximator mutable_bloomier"

# What makes modules small: code for few bytes, and addresses in as many bytes as they need.
small="--cfg petal_host_numbers --cfg petal_small -C link-arg=--compress-relocations -C llvm-args=-inline-threshold"

# features NAME...: the features of the core with these names.
features() {
    printf 'petal/%s,' "$@"
}

# compile FILE INLINE FLAGS FEATURES: one module. INLINE is how large a function may be that the compiler inlines. For
# the least bytes in a file the compiler inlines less than for the least bytes of a packed file, where what repeats
# costs little. The numbers below were found by trying.
compile() {
    [ -z "$only" ] || [ "$only" = "$1" ] || return 0
    folder=$target/wasm/$1
    RUSTFLAGS="$small=$2 $3" cargo build --quiet --locked --profile wasm \
        --target wasm32-unknown-unknown --target-dir "$folder" \
        --manifest-path "$here/module/Cargo.toml" --no-default-features --features "$4"
    cp "$folder/wasm32-unknown-unknown/wasm/petal_wasm.wasm" "$here/dist/$1.wasm"
    if [ -n "${WASM_OPT:-}" ]; then
        wasm-opt -Oz --enable-simd --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int \
            --enable-mutable-globals --enable-multivalue --enable-reference-types \
            "$here/dist/$1.wasm" -o "$here/dist/$1.wasm"
    fi
    size=$(wc -c <"$here/dist/$1.wasm")
    if command -v brotli >/dev/null; then
        echo "$1.wasm: $size bytes, $(brotli -q 11 -c "$here/dist/$1.wasm" | wc -c) by brotli -q 11"
    else
        echo "$1.wasm: $size bytes"
    fi
}

mkdir -p "$here/dist"
# The package has the licences next to its code.
cp "$here"/../../LICENSE-* "$here/"
# shellcheck disable=SC2086 # lists of words
all=$(features $filters $maps)
# A reader of filters only has no code for maps.
case ,$reader, in
*,bloomier,* | *,retrieval,* | *,approximator,* | *,mutable_bloomier,*) reads=,maps ;;
*) reads= ;;
esac
few=$(echo "$reader" | sed 's/\([^,]*\)/petal\/\1/g')
for simd in "" "-C target-feature=+simd128"; do
    suffix=${simd:+-simd}
    compile "petal$suffix" 20 "$simd" "${all}making,planning"
    compile "reader$suffix" 50 "$simd --cfg petal_reads_only" "$few$reads"
done
