#!/bin/sh
# baseline.sh ARCHIVE: looks through the machine code of libpetal.a as cargo makes it, with its function names, for
# instructions that not every x86-64 processor has. Only the kernels in files called avx2.rs and avx512.rs in
# src/kinds, src/index, src/blocks and src/hash, which are chosen at run time, and functions of Rust's own libraries
# that ask the processor first, of its libm and of memchr, may have any. Prints what it found.
set -eu
archive=$1
# Everything beyond the baseline has a mnemonic with a v, or belongs to BMI, ADX, POPCNT or the mask registers. (tzcnt
# is not in the list: compilers write it for bsf, which older processors take it for.)
objdump -d --no-show-raw-insn "$archive" 2>/dev/null | awk -F '\t' '
    /^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[0-9a-f]+ </, "", name); sub(/>:$/, "", name); functions++ }
    $2 ~ /^v[a-z]/ || $2 ~ /^(andn|bextr|bls[a-z]*|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx) / ||
    $2 ~ /^(adcx|adox|lzcnt|popcnt|k[a-z]+[bwdq]) / {
        if (name ~ /(kinds|index|blocks|hash).*avx(512|2)/) { kernels[name]++; next }
        if (name ~ /compiler_builtins.*fma|memchr.*avx2/) next
        bad[name] = $2
    }
    END {
        for (name in kernels) { if (name ~ /avx512/) wide++; else narrow++ }
        for (name in bad) { print name ": " bad[name]; failed++ }
        printf "%d functions: %d kernels for AVX-512 and %d for AVX2; %d others beyond the baseline\n", functions, wide, narrow, failed
        # Had the disassembly been misread, there would be no kernels either.
        exit failed > 0 || wide < 5 || narrow < 5
    }'
