#!/usr/bin/env python3
"""Rows with given attributes: an index of columns compared with PostgreSQL's index `bloom`, in milliseconds and bytes.

    apt-get install postgresql
    cargo bench --bench indexes --no-run
    python3 benches/compare/attributes.py [ROWS]

ROWS rows (10^6) have 16 attributes each, one of 1,000 values. A query asks for three attributes of a random row. Both
indexes set 2 of 80 bits for an attribute, which is PostgreSQL's default, so that both have the same rate of wrong rows.
The times of PostgreSQL are those of the scan of its index alone, without a look at the table (EXPLAIN ANALYZE), on one
process, the best of five. The program starts a server of its own in a temporary folder, and stops it. PG names the
folder of PostgreSQL's programs.
"""

import glob
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

ATTRIBUTES = 16
VALUES = 1000
QUERIES = 50
ASKED = 3
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Server:
    """A server of PostgreSQL in a folder, which does not run as root."""

    def __init__(self, folder):
        programs = os.environ.get("PG") or sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.folder, self.programs = folder, programs
        self.user = []
        if os.geteuid() == 0:
            self.user = ["runuser", "-u", "postgres", "--"]
            shutil.chown(folder, "postgres")
        self.data = os.path.join(folder, "data")
        self.run("initdb", "-D", self.data, "-A", "trust", "--locale=C", "-E", "UTF8")
        self.run("pg_ctl", "-D", self.data, "-w", "-l", os.path.join(folder, "log"), "-o",
                 f"-k {folder} -c listen_addresses= -c shared_buffers=1GB -c work_mem=256MB "
                 "-c max_parallel_workers_per_gather=0 -c jit=off -c fsync=off -c max_wal_size=8GB", "start")

    def run(self, program, *arguments, text=None):
        command = [*self.user, os.path.join(self.programs, program), *arguments]
        return subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, cwd=self.folder,
                              encoding="utf-8").stdout

    def ask(self, text):
        return self.run("psql", "-h", self.folder, "-d", "postgres", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1",
                        text=text)

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")


def scans(plan):
    """The node of the index's scan in a plan, and how many rows were looked at in vain."""
    wrong = plan.get("Rows Removed by Index Recheck", 0)
    if plan["Node Type"] == "Bitmap Index Scan":
        return plan, wrong
    for below in plan.get("Plans", []):
        node, more = scans(below)
        if node:
            return node, wrong + more
    return None, wrong


def postgres(folder, rows, queries):
    """Milliseconds of each query, wrong rows of each, and the bytes of the index."""
    server = Server(folder)
    try:
        names = [f"a{i}" for i in range(ATTRIBUTES)]
        server.ask("CREATE EXTENSION bloom; CREATE TABLE t (" + ", ".join(f"{name} int4" for name in names) + ");\n"
                   f"COPY t FROM '{rows}' (DELIMITER ' ');\n"
                   f"CREATE INDEX i ON t USING bloom ({', '.join(names)}) WITH (length = 80);\nVACUUM ANALYZE t;")
        times, wrong = [], []
        for query in queries:
            where = " AND ".join(f"a{attribute} = {value}" for attribute, value in query)
            # The mark ends each plan, which has several lines.
            asked = f"EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM t WHERE {where}; SELECT '#';\n"
            plans = server.ask("SET enable_seqscan = off;\n" + 5 * asked).split("#\n")[:5]
            told = [scans(json.loads(plan)[0]["Plan"]) for plan in plans]
            times.append(min(node["Actual Total Time"] for node, _ in told))
            wrong.append(told[0][1])
        return times, wrong, int(server.ask("SELECT pg_relation_size('i');"))
    finally:
        server.stop()


def petal(rows, queries):
    """The same of Petal's index of columns."""
    bench = os.environ.get("PETAL_BENCH", "").split() or ["cargo", "bench", "--quiet", "--bench", "indexes", "--"]
    out = subprocess.run([*bench, "attributes", rows, queries], check=True, stdout=subprocess.PIPE, cwd=ROOT)
    return json.loads(out.stdout)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    chosen = random.Random(31)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        rows, asked = os.path.join(folder, "rows"), os.path.join(folder, "queries")
        table = [[chosen.randrange(VALUES) for _ in range(ATTRIBUTES)] for _ in range(count)]
        with open(rows, "w") as file:
            file.writelines(" ".join(map(str, row)) + "\n" for row in table)
        queries = []
        for _ in range(QUERIES):
            row = chosen.choice(table)
            queries.append([(attribute, row[attribute]) for attribute in chosen.sample(range(ATTRIBUTES), ASKED)])
        with open(asked, "w") as file:
            file.writelines(" ".join(f"{a}={value}" for a, value in query) + "\n" for query in queries)
        right = [sum(all(row[a] == value for a, value in query) for row in table) for query in queries]
        del table
        mine = petal(rows, asked)
        times, wrong, size = postgres(folder, rows, queries)
    ours = [found - true for found, true in zip(mine["found"], right)]
    assert min(ours) >= 0, "rows are missing"
    ms, theirs = statistics.mean(mine["ms"]), statistics.mean(times)
    print(f"{count} rows of {ATTRIBUTES} attributes, {QUERIES} queries of {ASKED}")
    print(f"PostgreSQL: {theirs:.3f} ms, {size} bytes, {statistics.mean(wrong):.0f} wrong rows on average")
    print(f"Petal: {ms:.3f} ms, {mine['bytes']} bytes, of which {mine['columns']} are columns, "
          f"{statistics.mean(ours):.0f} wrong rows on average; {theirs / ms:.1f} times as fast")


if __name__ == "__main__":
    main()
