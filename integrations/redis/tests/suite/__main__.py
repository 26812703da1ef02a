"""Runs every check of every module next to this file, as many at a time as the machine has processors:
python3 suite PREFIX FOLDER [WORD]...

With redis-server; and with the servers whose paths PETAL_SERVERS has, a colon between them."""

import importlib
import multiprocessing
import os
import pathlib
import sys
import time
import traceback

import server

here = pathlib.Path(__file__).parent
server.PREFIX, server.WORK = map(pathlib.Path, sys.argv[1:3])
(server.MODULE,) = map(str, server.PREFIX.glob("lib*/**/libpetal_redis.so"))


def checks(words):
    """Servers, each with the names of modules and of their checks that have one of these words in them."""
    others = [path for path in os.environ.get("PETAL_SERVERS", "").split(":") if path]
    for executable in [server.EXECUTABLE, *others]:
        for path in sorted(here.glob("check_*.py")):
            for name in vars(importlib.import_module(path.stem)):
                if name.startswith("check_") and (not words or any(word in path.stem + name for word in words)):
                    yield executable, path.stem, name


def outcome(check):
    """Runs a check, with its own servers: what to print, and whether it passed; None if it could not run."""
    server.EXECUTABLE, module, name = check
    version = ".".join(map(str, server.version()))
    what = f"{version}: {module[6:]}: {name[6:].replace('_', ' ')}"
    start = time.monotonic()
    try:
        getattr(importlib.import_module(module), name)()
        return f"ok: {what} ({time.monotonic() - start:.1f} s)", True
    except server.Unavailable as why:
        return f"SKIPPED: {what}: {why}", None
    except BaseException:
        return f"FAILED: {what}\n{traceback.format_exc()}", False
    finally:
        server.stop_all()


def main():
    passed = []
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for line, has_passed in pool.imap_unordered(outcome, checks(sys.argv[3:])):
            print(line, flush=True)
            passed.append(has_passed)
    print(f"{passed.count(True)} passed, {passed.count(False)} failed")
    return 1 if passed.count(False) else 0


if __name__ == "__main__":
    sys.exit(main())
