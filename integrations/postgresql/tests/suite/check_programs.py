"""What SQL has built is asked by other programs, and what they have built is asked in SQL."""

import json
import os
import shutil
import sys

import server

WORK = server.HOME / "programs"
KEYS = [f"key {number}" for number in range(1, 1001)] + ["", "Größe", "日本", "a" * 5000]
NUMBERS = [0, 1, 255, 256, 65536, 2**31, 2**32, 2**53 + 1, 2**63 - 1]


def command(*words, **options):
    return server.call(server.PREFIX / "bin" / "petal", *words, **options).decode()


def keys_file():
    path = server.FILES / "keys"
    path.write_text("".join(f"{key}\n" for key in KEYS))
    return path


def texts(session):
    """The table of the keys."""
    session.rows("CREATE TABLE texts (key text)")
    session.rows(f"COPY texts FROM '{keys_file()}'")


def saved(session, expression, rest=""):
    """A value as a file, as which others read it."""
    path = server.FILES / "value.petal"
    image = bytes.fromhex(session.ask(f"SELECT encode(({expression})::bytea, 'hex') {rest}"))
    path.write_bytes(image)
    return path


def taken(session, path):
    """A file as a value: the only row of the table `given`."""
    session.rows("CREATE TABLE IF NOT EXISTS given (filter petal)")
    session.rows(f"TRUNCATE given; INSERT INTO given VALUES (pg_read_binary_file('{path}')::petal)")


def check_the_command_asks_what_sql_built(database):
    session = database.session()
    texts(session)
    wanted = "".join(f"{key}\n" for key in KEYS)
    others = server.FILES / "others"
    others.write_text("".join(f"other {number}\n" for number in range(1000)))
    for arguments in ("", ", 1004", ", NULL, 1e-7", ", NULL, 1e-7, 'fuse'", ", 2000, 1e-7, 'bloom'"):
        path = saved(session, f"petal_agg(key{arguments})", "FROM texts")
        command("verify", path)
        assert command("check", path, keys_file()) == wanted, arguments
        found = int(session.ask(f"""SELECT count(*) FROM (SELECT petal_agg(key{arguments}) AS filter FROM texts) made,
            generate_series(0, 999) number WHERE filter @> ('other ' || number)"""))
        assert command("check", "-v", path, others).count("\n") == 1000 - found, arguments
    path = saved(session, "petal_build_map(key, length(key))", "FROM texts")
    assert command("map", "get", path, keys_file()) == "".join(f"{key}\t{len(key)}\n" for key in KEYS)


def check_sql_makes_the_bytes_of_the_command(database):
    session = database.session()
    texts(session)
    built = server.FILES / "built.petal"
    for arguments, words in (("", ()), (", 1004, 0.001", ("--capacity", "1004", "--fpr", "0.001")),
                             (", NULL, 0.001, 'ribbon'", ("--kind", "ribbon", "--fpr", "0.001"))):
        command("build", *words, "-o", built, keys_file())
        assert saved(session, f"petal_agg(key{arguments})", "FROM texts").read_bytes() == built.read_bytes(), arguments


def check_sql_asks_what_the_command_built(database):
    session = database.session()
    texts(session)
    path = server.FILES / "built.petal"
    for kind in ("blocked", "bloom", "fuse", "cuckoo", "scalable", "ribbon"):
        command("build", "--kind", kind, "--fpr", "1e-6", "-o", path, keys_file())
        taken(session, path)
        assert session.ask("SELECT count(*) FROM texts, given WHERE filter @> key") == str(len(KEYS)), kind
        assert int(session.ask("SELECT count(*) FROM generate_series(1, 999) k, given WHERE filter @> ('o' || k)")) < 3
    table = server.FILES / "table"
    table.write_text("".join(f"{key}\t{place}\n" for place, key in enumerate(KEYS)))
    command("map", "build", "-o", path, table)
    taken(session, path)
    session.rows(f"CREATE TABLE places (key text, place bigint); COPY places FROM '{table}'")
    assert session.ask("SELECT count(*) FROM places, given WHERE petal_get(filter, key) = place") == str(len(KEYS))


def same_description(session, call, rest):
    """Compares petal_info with what the command says of the same bytes."""
    path = saved(session, call, rest)
    said = json.loads(command("info", "--json", path))
    info = json.loads(session.ask(f"SELECT petal_info({call}) {rest}"))
    assert info.pop("type") == ("map" if "map" in call else "filter"), call
    for of, fields in ((said["statistics"], info.pop("statistics")), (said, info)):
        assert len(fields) > 4
        for name, value in fields.items():
            is_same = of[name] == value or (isinstance(value, float) and abs(of[name] - value) < 1e-9 * abs(value))
            assert is_same, (call, name, of[name], value)


def check_petal_info_says_what_the_command_says(database):
    session = database.session()
    texts(session)
    for kind in ("blocked", "bloom", "counting", "cuckoo", "fuse", "golomb", "scalable", "quotient", "ribbon", "taffy"):
        same_description(session, f"petal_agg(key, 1004, 0.01, '{kind}')", "FROM texts")
    for call in ("petal_agg(key)", "petal_agg(key, 5, 0.1, 'bloom')", "petal_agg(key, 5, 0.01, 'scalable')",
                 "petal_build_map(key, 5)", "petal_build_map(key, 5, NULL, 'retrieval')"):
        same_description(session, call, "FROM texts")
    owner = server.FILES / "foreign"
    path = server.FILES / "foreign.petal"
    for system in ("guava", "bits_and_blooms", "parquet"):
        command("build", "--format", system, "--fpr", "0.01", "-o", owner, keys_file())
        command("import", system, owner, "-o", path)
        taken(session, path)
        same_description(session, "filter", "FROM given")


def check_foreign_filters_and_filters_with_a_secret(database):
    session = database.session()
    texts(session)
    path = server.FILES / "foreign.petal"
    owner = server.FILES / "foreign"
    for system in ("guava", "spark", "bits_and_blooms", "parquet"):
        command("build", "--format", system, "--fpr", "1e-6", "-o", owner, keys_file())
        command("import", system, owner, "-o", path)
        taken(session, path)
        assert session.ask("SELECT count(*) FROM texts, given WHERE filter @> key") == str(len(KEYS)), system
        assert int(session.ask("SELECT count(*) FROM generate_series(1, 999) k, given WHERE filter @> ('o' || k)")) < 3
        assert saved(session, "filter", "FROM given").read_bytes() == path.read_bytes(), system
    secret = server.FILES / "secret"
    secret.write_text("00112233445566778899aabbccddeeff")
    command("build", "--secret-file", secret, "-o", path, keys_file())
    taken(session, path)
    for query in ("SELECT filter @> 'key 1' FROM given", "SELECT petal_contains(filter, 5) FROM given"):
        line = session.refusal(query)
        assert line.startswith("ERROR:  0A000: petal_contains: ") and "secret" in line, line
    assert session.ask("SELECT petal_info(filter)->>'hash' FROM given") == "siphash13"


C = """
#include <inttypes.h>
#include <petal.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints which numbers are in a filter; with a second file, makes a filter of the same numbers there. */
int main(int count, char **words) {
  static const uint64_t numbers[] = {NUMBERS};
  const size_t size = sizeof numbers / sizeof *numbers;
  petal_filter *filter = NULL;
  petal_error error = PETAL_ERROR_INIT;
  if (count < 3) {
    if (petal_filter_open(words[1], NULL, &filter, &error) != PETAL_OK) return puts(error.message), 1;
    for (size_t i = 0; i < size; i++) printf("%d%d ", petal_filter_contains_u64(filter, numbers[i]),
                                             petal_filter_contains_u64(filter, numbers[i] + 7));
  } else {
    petal_spec spec = PETAL_SPEC_INIT;
    spec.capacity = size;
    spec.false_positive_rate = 1e-9;
    if (petal_filter_new(&spec, &filter, &error) != PETAL_OK) return puts(error.message), 1;
    for (size_t i = 0; i < size; i++) petal_filter_insert_u64(filter, numbers[i], NULL);
    if (petal_filter_save(filter, words[2], &error) != PETAL_OK) return puts(error.message), 1;
  }
  petal_filter_free(filter);
  return 0;
}
"""

GO = """
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/view"
)

func main() {
	numbers := []uint64{NUMBERS}
	if len(os.Args) < 3 {
		opened, err := view.Open(os.Args[1], nil)
		if err != nil {
			log.Fatal(err)
		}
		for _, number := range numbers {
			for _, key := range []uint64{number, number + 7} {
				if opened.ContainsUint64(key) {
					fmt.Print(1)
				} else {
					fmt.Print(0)
				}
			}
			fmt.Print(" ")
		}
		return
	}
	made, err := filter.New(filter.Spec{Capacity: uint64(len(numbers)), FalsePositiveRate: 1e-9})
	if err != nil {
		log.Fatal(err)
	}
	for _, number := range numbers {
		made.InsertUint64(number)
	}
	if err := made.Save(os.Args[2]); err != nil {
		log.Fatal(err)
	}
}
"""

PYTHON = """
import sys
import petal

numbers = [NUMBERS]
if len(sys.argv) < 3:
    opened = petal.Filter.open(sys.argv[1])
    print(" ".join(f"{int(number in opened)}{int(number + 7 in opened)}" for number in numbers))
else:
    made = petal.Filter(len(numbers), 1e-9)
    for number in numbers:
        made.add(number)
    made.save(sys.argv[2])
"""


def exchange(session, words, **options):
    """A program reads a filter that SQL made of NUMBERS, and makes one of them, which SQL reads."""
    values = ", ".join(f"({number})" for number in NUMBERS)
    session.rows(f"CREATE TABLE numbers AS SELECT number::bigint FROM (VALUES {values}) listed(number)")
    path = saved(session, "petal_agg(number, NULL, 1e-9)", "FROM numbers")
    said = server.call(*words, path, **options).decode()
    assert said.split() == ["10"] * len(NUMBERS), said
    made = server.FILES / "made.petal"
    server.call(*words, path, made, **options)
    made.chmod(0o644)
    taken(session, made)
    assert session.ask("SELECT count(*) FROM numbers, given WHERE filter @> number") == str(len(NUMBERS))
    assert session.ask("SELECT count(*) FROM numbers, given WHERE filter @> least(number, 9e18::bigint) + 7") == "0"


def source(name, text):
    WORK.mkdir(exist_ok=True)
    path = WORK / name
    path.write_text(text.replace("NUMBERS", ", ".join(map(str, NUMBERS))))
    return path


def check_a_program_in_c(database):
    words = server.call("pkg-config", "--cflags", "--libs", "petal-static").decode().split()
    server.call("cc", "-o", WORK / "ask", source("ask.c", C), *words)
    exchange(database.session(), [WORK / "ask"])


def check_a_program_in_go(database):
    if not shutil.which("go"):
        raise server.NotRun("there is no go")
    package = server.EXTENSION.parents[1] / "bindings" / "go"
    try:
        server.call("go", "mod", "download", cwd=package)
    except server.Failed as why:
        raise server.NotRun(f"Go's modules are not to be had: {why}") from why
    server.call("go", "build", "-o", WORK / "asked", source("ask.go", GO), cwd=package,
                env={**os.environ, "CGO_ENABLED": "0"})
    exchange(database.session(), [WORK / "asked"])


def check_a_program_in_python(database):
    """With the package that `make python` or its tests have built, if they have."""
    package = os.environ.get("PETAL_PYTHON", "")
    if not os.path.isdir(os.path.join(package, "petal")):
        raise server.NotRun("`make python` was not run")
    exchange(database.session(), [sys.executable, source("ask.py", PYTHON)],
             env={**os.environ, "PYTHONPATH": package, "PYTHONDONTWRITEBYTECODE": "1"})
