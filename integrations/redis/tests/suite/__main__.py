"""Runs every check of every module beside this file: python3 suite PREFIX FOLDER [WORD]..."""

import importlib
import pathlib
import sys
import traceback

import server

here = pathlib.Path(__file__).parent
server.PREFIX, server.WORK = map(pathlib.Path, sys.argv[1:3])
(server.MODULE,) = map(str, server.PREFIX.glob("lib*/**/libpetal_redis.so"))
words = sys.argv[3:]
passed = failed = 0
for path in sorted(here.glob("check_*.py")):
    module = importlib.import_module(path.stem)
    for name, check in list(vars(module).items()):
        if not name.startswith("check_") or (words and not any(word in path.stem + name for word in words)):
            continue
        what = f"{path.stem[6:]}: {name[6:].replace('_', ' ')}"
        try:
            check()
            passed += 1
            print(f"ok: {what}", flush=True)
        except server.Unavailable as why:
            print(f"SKIPPED: {what}: {why}", flush=True)
        except BaseException as failure:
            failed += 1
            print(f"FAILED: {what}", flush=True)
            traceback.print_exc(file=sys.stdout)
            if isinstance(failure, KeyboardInterrupt):
                break
        finally:
            server.stop_all()
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
