#!/bin/sh
# uninstall.sh BUILD_DIRECTORY PREFIX [DESTDIR]: removes what `cmake --install` of that build puts below DESTDIR and
# PREFIX. Installs once more into an empty folder to learn what that is. Folders that others may use as well stay.
set -eu
build=$1
prefix=$2
destdir=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree"
DESTDIR="$work/tree" cmake --install "$build" --prefix "$prefix" >/dev/null

cd "$work/tree"
removed=0
find . ! -type d >"$work/files"
while IFS= read -r file; do
    file="$destdir/${file#./}"
    if [ -e "$file" ] || [ -L "$file" ]; then
        rm -f "$file"
        removed=$((removed + 1))
    fi
done <"$work/files"
# Those of Petal's own, the innermost first.
find . -depth -type d -name petal | while IFS= read -r folder; do
    rmdir "$destdir/${folder#./}" 2>/dev/null || true
done
if [ -z "$destdir" ] && [ "$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then
    ldconfig
fi
echo "uninstall: $removed files removed from $destdir$prefix"
