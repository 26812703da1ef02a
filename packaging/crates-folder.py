"""crates-folder.py FOLDER CACHE: makes a registry of crates in FOLDER, as cargo's `local-registry` wants it, of the
packages in standard input, which is what `cargo metadata` says. Their files are in FOLDER or in CACHE, cargo's own."""

import hashlib
import json
import pathlib
import shutil
import sys

folder, cache = map(pathlib.Path, sys.argv[1:])
KINDS = {None: "normal"}


def dependency(of):
    """A line's entry; a renamed dependency has the name that its package knows it by."""
    entry = {"name": of["rename"] or of["name"], "req": of["req"], "features": of["features"]}
    entry |= {"optional": of["optional"], "default_features": of["uses_default_features"], "target": of["target"]}
    entry |= {"kind": KINDS.get(of["kind"], of["kind"]), "package": of["name"] if of["rename"] else None}
    return entry


for package in json.load(sys.stdin)["packages"]:
    name, version = package["name"], package["version"]
    file = folder / f"{name}-{version}.crate"
    if not file.exists():
        kept = next(cache.glob(f"*/{file.name}"), None)
        # What cargo did not fetch is not needed here: it is for another system.
        if kept is None:
            continue
        shutil.copy(kept, file)
    start = {1: "1", 2: "2", 3: f"3/{name[0]}"}.get(len(name), f"{name[:2]}/{name[2:4]}")
    line = {"name": name, "vers": version, "deps": [dependency(of) for of in package["dependencies"]]}
    line |= {"cksum": hashlib.sha256(file.read_bytes()).hexdigest(), "yanked": False}
    # Features that switch dependencies on by `dep:` are a later addition of the format.
    line |= {"features": {}, "features2": package["features"], "v": 2}
    index = folder / "index" / start / name
    index.parent.mkdir(parents=True, exist_ok=True)
    index.write_text(json.dumps(line) + "\n")
