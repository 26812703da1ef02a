#!/bin/sh
# demo.sh BUILD_DIRECTORY DEMO_DIRECTORY: installs the built library into DEMO_DIRECTORY/prefix, compiles
# examples/c/words.c against that installation as any program would, by pkg-config, and runs it on real words.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
demo=$2
source=$here/../examples/c/words.c

echo "demo: installing into $demo/prefix"
rm -rf "$demo/prefix"
mkdir -p "$demo"
demo=$(cd "$demo" && pwd)
cmake --install "$build" --prefix "$demo/prefix" >"$demo/install.log"
PKG_CONFIG_PATH=$(dirname "$(find "$demo/prefix" -name petal.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir petal)

words=/usr/share/dict/words
if [ ! -e "$words" ]; then
    words=$demo/names.txt
    echo "demo: no word list here (Debian: wamerican), so the names of the files under /usr are the keys"
    find /usr 2>/dev/null | sed 's|.*/||' | LC_ALL=C sort -u >"$words"
fi

echo "demo: compiling examples/c/words.c with $(pkg-config --libs petal)"
# Unquoted on purpose: pkg-config prints separate arguments.
${CC:-cc} -std=c11 -O2 -Wall -Wextra $(pkg-config --cflags petal) "$source" -o "$demo/words" \
    $(pkg-config --libs petal) -Wl,-rpath,"$libdir"
echo "demo: words $words"
cd "$demo"
./words "$words"

echo "demo: the words as breached passwords, built by the command and asked by examples/c/breached_passwords.c"
"$demo/prefix/bin/petal" build --kind fuse --fpr 0.001 -o breached.petal "$words"
${CC:-cc} -std=c11 -O2 -Wall -Wextra $(pkg-config --cflags petal) "$here/../examples/c/breached_passwords.c" \
    -o breached_passwords $(pkg-config --libs petal) -lpthread -Wl,-rpath,"$libdir"
exec ./breached_passwords -f breached.petal -c "$words"
