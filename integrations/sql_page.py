#!/usr/bin/env python3
"""sql_page.py SYSTEM COMMAND...: runs the SQL of docs/sql.md for a system, and compares what it prints.

SYSTEM is postgresql or sqlite. COMMAND reads SQL from its standard input and prints rows without a header, columns with
a bar between. A block begins after `<!-- sql: postgresql -->`, `<!-- sql: sqlite -->` or `<!-- sql: both -->`, and what
it prints follows as text. BLOB_OR_PETAL in a block for both is the type of a filter's column.
"""

import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "sql.md"
BLOCK = re.compile(r"<!-- sql: (\w+) -->\n```sql\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def main():
    system, command = sys.argv[1], sys.argv[2:]
    column = {"postgresql": "petal", "sqlite": "BLOB"}[system]
    blocks = [block for block in BLOCK.findall(PAGE.read_text()) if block[0] in (system, "both")]
    if len(blocks) < 4:
        sys.exit(f"{PAGE}: only {len(blocks)} blocks for {system}")
    failed = 0
    for _, sql, printed in blocks:
        sql = sql.replace("BLOB_OR_PETAL", column)
        done = subprocess.run(command, input=sql, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0 or done.stdout != printed:
            failed += 1
            print(f"{sql}\nprinted:\n{done.stdout}\ninstead of:\n{printed}")
    print(f"{len(blocks) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
