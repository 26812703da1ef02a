#!/bin/bash
# go-modules.sh FOLDER [DIST]: writes Go's modules of this tree into FOLDER as a proxy serves them, so that
# GOPROXY=file://FOLDER gives them to any program. Go itself makes them, from a repository with the tags that a release
# has, so they have just what Go would take from the published one. The modules that they need come along from the
# proxy that Go is set up for. With DIST, the folder of `make dist`, package petal comes with the C library
# (packaging/go-archives.sh), and otherwise it links the installed one.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
dist=${2-}
address=$(sed -n 's/^repository = "\(.*\)"$/\1/p' "$root/Cargo.toml")
version=v$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
modules="bindings/go bindings/go/bloom integrations/redis/go"
work=$(mktemp -d)
# Go makes its cache read-only.
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

repository=$work/repository
mkdir "$repository"
(cd "$root" && git ls-files -z --cached --others --exclude-standard -- bindings/go integrations/redis/go LICENSE-MIT |
    while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar --create --null --files-from=-) | tar --extract --directory "$repository"
if [ -n "$dist" ]; then
    for folder in $("$root/packaging/go-archives.sh" "$dist" "$repository/bindings/go"); do
        modules="bindings/go/$folder $modules"
    done
fi
in_repository() {
    git -C "$repository" -c user.name=petal -c user.email=petal@localhost -c commit.gpgsign=false "$@"
}
in_repository -c init.defaultBranch=main init --quiet
in_repository add --all --force
GIT_AUTHOR_DATE="@${SOURCE_DATE_EPOCH:-0} +0000" GIT_COMMITTER_DATE="@${SOURCE_DATE_EPOCH:-0} +0000" \
    in_repository commit --quiet --message "$version"
for module in $modules; do
    in_repository tag "$module/$version"
done

# The project's address leads to that repository, for this Go alone.
proxy=$(go env GOPROXY)
export GOMODCACHE="$work/modules" GOFLAGS=-modcacherw GOWORK=off GONOSUMDB="${address#https://}" \
    GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0="url.file://$repository.insteadOf" GIT_CONFIG_VALUE_0="$address" \
    GIT_CONFIG_KEY_1=safe.directory GIT_CONFIG_VALUE_1="*"
for module in $modules; do
    (cd "$work" && GOPROXY=direct go mod download "${address#https://}/$module@$version")
    # What the module needs is known to its own go.mod.
    (cd "$repository/$module" && GOPROXY="file://$work/modules/cache/download,$proxy" go mod download all)
done
cp -R "$work/modules/cache/download/." "$out/"
rm -rf "$out"/sumdb
