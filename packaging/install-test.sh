#!/bin/bash
# install-test.sh CARGO_TARGET_DIRECTORY DIST: in a Debian 11 that has a C compiler, the package manager of the
# ecosystem and no network, an archive of DIST, Go, npm and cargo each bring a program to run within a minute, cargo
# within three.
# Then all is removed, and the system has the files that it had. Needs root, mmdebstrap, unshare, and from this machine
# Go, Node.js with npm, and cargo: what is missing is skipped by name. The packages are those that registries would get;
# folders stand for the registries.
set -uo pipefail
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/.." && pwd)
target=$(cd "$1" && pwd)
dist=$(cd "$2" && pwd)
unset DESTDIR CARGO_TARGET_DIR MAKEFLAGS MAKELEVEL MFLAGS
work=$(mktemp -d)
# Go makes its cache read-only, and is root here.
trap 'rm -rf --one-file-system "$work"' EXIT
log=$work/log
. "$root/tests/packaging/checks.sh"
. "$root/packaging/targets.sh"
address=$(sed -n 's/^repository = "https:\/\/\(.*\)"$/\1/p' "$root/Cargo.toml")
world=$work/world

[ "$(id -u)" = 0 ] && unshare --mount --net true 2>/dev/null ||
    { echo "skipped: installing in a system of its own: this takes root and unshare"; exit 0; }
debian_11 "$world" ||
    { echo "skipped: installing in a system of its own: this takes mmdebstrap and a mirror that has Debian 11"; exit 0; }
registry=$world/registry
mkdir -p "$registry" "$world/tools/go" "$world/tools/node/bin" "$world/tools/rust"
if has npm; then
    cp -L "$(command -v node)" "$world/tools/node/bin/"
    cp -R "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$world/tools/node/npm"
    ln -s ../npm/bin/npm-cli.js "$world/tools/node/bin/npm"
fi

# inside COMMANDS: runs them by a shell in that system, with the tools of this one and without a network.
inside() {
    local bind=
    ! has go || bind="mount --bind -o ro $(go env GOROOT) $world/tools/go &&"
    ! has rustc || bind="$bind mount --bind -o ro $(rustc --print sysroot) $world/tools/rust &&"
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --net --pid --fork sh -c "$bind"' mount -t proc proc "$1/proc" &&
        exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/tools/go/bin:/tools/node/bin:/tools/rust/bin:/usr/bin:/bin \
            /bin/sh -euxc "$2"' sh "$world" "$1"
}
# list: every file of that system, with its size and time.
list() {
    (cd "$world" && find . -path ./tools -prune -o -path ./registry -prune -o -path ./tmp -prune \
        -o -path ./proc -prune -o -type d -printf '%p %m\n' -o -printf '%p %m %s %T@ %l\n' | sort)
}
list >"$work/before"

# brings COMMANDS SECONDS: they make a program and run it, within that time.
brings() {
    local began=$SECONDS
    inside "$1" >"$work/said" 2>"$work/told" || { cat "$work/said" "$work/told"; return 1; }
    grep "^pear: " "$work/said" && grep -E "^apple: (maybe|true)$" "$work/said" || { cat "$work/said"; return 1; }
    took=$((SECONDS - began))
    echo "it took $took s"
    [ "$took" -le "$2" ]
}
# leaves COMMANDS: they remove it again.
leaves() {
    inside "$1" && list >"$work/after" && diff "$work/before" "$work/after"
}
# world NAME SECONDS: with the functions bring_NAME and remove_NAME, which print commands.
world() {
    took=
    must "$1: installs the library, and a program with it runs, within $2 s" brings "$(bring_"$1")" "$2"
    echo "    $took s"
    check "$1: removed without a trace" leaves "$(remove_"$1")"
}
# program LANGUAGE PAGE: the program on a page.
program() {
    awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "$2"
}

# --- An archive ------------------------------------------------------------------------------------------------------

bring_archive() {
    cat <<SHELL
cd
tar -xf /registry/$archive.tar.gz
export PKG_CONFIG_PATH=\$PWD/$archive/lib/pkgconfig
cc /registry/program.c -o program \$(pkg-config --cflags --libs petal-static)
./program
SHELL
}
remove_archive() { echo "rm -r ~/$archive ~/program"; }

archive=petal-$version-$(uname -m)-linux-gnu
if [ -e "$dist/$archive.tar.gz" ]; then
    cp "$dist/$archive.tar.gz" "$registry/"
    program c "$root/README.md" >"$registry/program.c"
    world archive 60
else
    echo "skipped: an archive: \`make dist TARGETS=$(uname -m)-linux-gnu\` makes it"
fi

# --- Go --------------------------------------------------------------------------------------------------------------

bring_go() {
    cat <<SHELL
mkdir ~/program && cd ~/program
cp /registry/main.go .
export GOPROXY=file:///registry/go GOSUMDB=off GOFLAGS=-mod=mod
go mod init example.com/program
go get $address/bindings/go@v$version
go build -o program .
./program
SHELL
}
# The rest are the folders that Go makes for any program.
remove_go() { echo "go clean -cache -modcache; rm -r ~/program ~/.cache ~/.config ~/go"; }

if has go && [ -e "$dist/$archive.tar.gz" ]; then
    "$root/packaging/go-modules-test.sh" program >"$registry/main.go"
    must "Go's modules are made" "$root/packaging/go-modules.sh" "$registry/go" "$dist"
    world go 60
else
    echo "skipped: Go: this takes go, and the archive"
fi

# --- npm -------------------------------------------------------------------------------------------------------------

bring_npm() {
    cat <<SHELL
mkdir ~/program && cd ~/program
cp /registry/hello.mjs .
npm init --yes
npm install --offline --no-audit --no-fund --no-update-notifier /registry/petal-filter-petal-$version.tgz
node hello.mjs
SHELL
}
remove_npm() { echo "rm -r ~/program ~/.npm"; }

npm_packed() {
    "$root/bindings/wasm/build.sh" "$target" &&
        npm pack --silent --pack-destination "$registry" "$root/bindings/wasm"
}
if has npm && [ -d "$(rustc --print target-libdir --target wasm32-unknown-unknown)" ]; then
    program js "$root/bindings/wasm/README.md" >"$registry/hello.mjs"
    must "the package for npm is made" npm_packed
    world npm 60
else
    echo "skipped: npm: this takes Node.js with npm, and Rust's library for WebAssembly"
fi

# --- cargo -----------------------------------------------------------------------------------------------------------

bring_cargo() {
    cat <<SHELL
mkdir ~/.cargo && cat >~/.cargo/config.toml <<CONFIG
[source.crates-io]
replace-with = "folder"
[source.folder]
local-registry = "/registry/crates"
CONFIG
cargo new --vcs none ~/program
cd ~/program
cargo add petal
cp /registry/main.rs src/
cargo run
SHELL
}
remove_cargo() { echo "rm -r ~/program ~/.cargo"; }

# The crate and what it needs, as a registry in a folder.
crates() {
    (cd "$root" && cargo package --locked -p petal --no-verify --allow-dirty --target-dir "$work/target") &&
        mkdir -p "$registry/crates" "$work/crate" &&
        cp "$work/target/package/petal-$version.crate" "$registry/crates/" &&
        tar --extract --file "$registry/crates/petal-$version.crate" --directory "$work/crate" --strip-components=1 &&
        (cd "$work/crate" && cargo metadata --format-version 1 --locked) >"$work/metadata" &&
        python3 "$root/packaging/crates-folder.py" "$registry/crates" \
            "${CARGO_HOME:-$HOME/.cargo}/registry/cache" <"$work/metadata"
}
if has cargo && has python3; then
    program rust "$root/src/README.md" >"$registry/main.rs"
    must "the crate and those that it needs are a registry" crates
    world cargo 180
else
    echo "skipped: cargo: this takes cargo and Python"
fi
finish
