#!/bin/sh
# uninstall.sh BUILD_DIRECTORY PREFIX [DESTDIR]: removes what install.sh noted that it put below DESTDIR and PREFIX, and
# what `cmake --install` of that build puts there now. Installs once more into an empty folder to learn what that is.
# Folders that others may use as well stay.
set -eu
build=$(cd "$1" && pwd)
prefix=$2
destdir=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree"
DESTDIR="$work/tree" cmake --install "$build" --prefix "$prefix" >/dev/null

cd "$work/tree"
removed=0
find . ! -type d >"$work/now"
# Noted are paths without DESTDIR.
noted=$build/installed/$(printf '%s\n%s' "$destdir" "$prefix" | cksum | cut -d ' ' -f 1)
if [ -f "$noted" ]; then
    sed 's|^/*|./|' "$noted" >"$work/noted"
else
    : >"$work/noted"
fi
sort -u "$work/now" "$work/noted" >"$work/files"
while IFS= read -r file; do
    file="$destdir/${file#./}"
    if [ -e "$file" ] || [ -L "$file" ]; then
        rm -f "$file"
        removed=$((removed + 1))
    fi
done <"$work/files"
rm -f "$noted"
# Removes Petal's own folders, which are those called petal and what lies in them, the innermost first.
awk -F/ '{
    path = $1
    for (i = 2; i < NF; i++) {
        path = path "/" $i
        if ($i == "petal" || is_ours == NR) { is_ours = NR; print path }
    }
}' "$work/files" | sort -ru | while IFS= read -r folder; do
    rmdir "$destdir/${folder#./}" 2>/dev/null || true
done
if [ -z "$destdir" ] && [ "$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then
    ldconfig
fi
echo "uninstall: $removed files removed from $destdir$prefix"
