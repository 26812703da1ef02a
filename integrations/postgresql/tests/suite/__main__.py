"""Runs every check of every module next to this file: python3 suite [--soak] [WORD]...

run.sh starts the server, and says in the environment where it is."""

import importlib
import pathlib
import sys
import time
import traceback

import server

here = pathlib.Path(__file__).parent


def checks(words):
    """The names and functions of the checks that have one of these words in their names."""
    words = [word.replace(" ", "_") for word in words]
    for path in sorted(here.glob("check_*.py")):
        module = importlib.import_module(path.stem)
        for name, check in list(vars(module).items()):
            if name.startswith("check_") and (not words or any(word in f"{path.stem}_{name}" for word in words)):
                yield f"{path.stem[6:]}: {name[6:].replace('_', ' ')}", check


def main():
    words = [word for word in sys.argv[1:] if word != "--soak"]
    server.IS_SOAK = "--soak" in sys.argv
    passed = failed = 0
    for name, check in checks(words):
        start = time.monotonic()
        try:
            with server.Database() as database:
                check(database)
            server.still_runs()
            print(f"ok: {name} ({time.monotonic() - start:.1f} s)", flush=True)
            passed += 1
        except server.NotRun as why:
            print(f"postgresql: not run: {name}: {why}", flush=True)
        except Exception:
            print(f"FAILED: {name}\n{traceback.format_exc()}", flush=True)
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
