"""Encodings, collations, types of other extensions, and settings that change how queries run."""

import server


def check_databases_that_are_not_utf8(database):
    for encoding in ("LATIN1", "SQL_ASCII"):
        with server.Database(f"ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0") as other:
            session = other.session()
            for query in ("SELECT petal_agg('key')", "SELECT petal_agg('key'::text)",
                          "SELECT petal_agg('key'::varchar)", "SELECT petal_agg('key'::name)",
                          "SELECT petal_build_map('key', 1)",
                          "SELECT petal_contains(petal_agg(5), 'key')", "SELECT petal_agg(5) @> 'key'"):
                line = session.refusal(query)
                assert "0A000" in line and f"key is text of the encoding {encoding}" in line, line
            assert session.ask("SELECT petal_agg('\\x6b6579'::bytea) @> '\\x6b6579'::bytea") == "t"
            assert session.ask("SELECT petal_agg(5) @> 5") == "t"
            assert session.ask("SELECT petal_get(petal_build_map(5, 7), 5)") == "7"
            assert session.ask("SELECT petal_agg('00112233-4455-6677-8899-aabbccddeeff'::uuid) IS NOT NULL") == "t"
            assert session.ask("SELECT petal_info(petal_agg(5))->>'kind'") == "blocked"
            assert session.ask("SELECT petal_info(petal_agg(5, 10, 0.1, 'bloom'))->>'kind'") == "bloom"
            if encoding == "LATIN1":
                assert session.ask("SELECT petal_agg(convert_to(U&'\\00E9', 'UTF8')) @> '\\xc3a9'::bytea") == "t"


def check_clients_that_are_not_utf8(database):
    session = database.session()
    session.rows("SET client_encoding = 'LATIN1'")
    assert session.ask("SELECT petal_agg(U&'\\00E9', 10, 1e-9) @> '\\xc3a9'::bytea") == "t"


def check_citext(database):
    """Its values are equal in unequal letters. A constant is text before anybody looks, and so it is what it says."""
    session = database.session()
    try:
        session.rows("CREATE EXTENSION citext")
    except server.Failed as why:
        raise server.NotRun("there is no citext") from why
    session.rows("CREATE TABLE kept (key citext, number integer); INSERT INTO kept VALUES ('Key', 1)")
    session.rows("CREATE DOMAIN email AS citext; CREATE TABLE mails (key email); INSERT INTO mails VALUES ('Key')")
    for query in ("SELECT petal_agg(key) FROM kept", "SELECT petal_agg(key, 10) FROM kept",
                  "SELECT petal_agg(DISTINCT key) FROM kept", "SELECT petal_agg(key ORDER BY number) FROM kept",
                  "SELECT petal_build_map(key, 5) FROM kept",
                  "SELECT petal_contains((SELECT petal_agg(5)), key) FROM kept",
                  "SELECT (SELECT petal_agg(5)) @> key FROM kept",
                  "SELECT petal_get((SELECT petal_build_map(5, 5)), key) FROM kept",
                  "SELECT petal_count((SELECT petal_agg(5, 9, 0.1, 'counting')), key) FROM kept",
                  "SELECT petal_agg(key) FROM mails", "SELECT number, petal_agg(key) FROM kept GROUP BY number",
                  "SELECT petal_agg(key) FROM (SELECT key FROM kept OFFSET 0) part"):
        line = session.refusal(query)
        assert "42804" in line and ("type citext" in line or "type email" in line), (query, line)
    assert session.ask("SELECT petal_agg(lower(key)::text) @> 'key' FROM kept") == "t"
    assert session.rows("SELECT f @> 'Key'::citext, f @> 'key'::citext FROM (SELECT petal_agg('Key') AS f) made") == [
        ["t", "f"]]
    # The sixth execution may have a plan for any parameter.
    session.rows("PREPARE ask(citext) AS SELECT f @> $1 FROM (SELECT petal_agg('Key') AS f) made")
    assert [session.ask("EXECUTE ask('Key')") for _ in range(8)] == ["t"] * 8


def check_collations_in_which_unequal_texts_are_equal(database):
    session = database.session()
    try:
        session.rows("CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    except server.Failed as why:
        raise server.NotRun("the server has no ICU") from why
    session.rows("CREATE TABLE kept (key text COLLATE loose, short varchar(9) COLLATE loose)")
    session.rows("INSERT INTO kept VALUES ('Key', 'Key')")
    for query in ("SELECT petal_agg(key) FROM kept", "SELECT petal_agg(short, 10) FROM kept",
                  "SELECT petal_build_map(key, 5) FROM kept", "SELECT (SELECT petal_agg(5)) @> key FROM kept",
                  "SELECT petal_contains((SELECT petal_agg(5)), short) FROM kept",
                  "SELECT petal_agg('Key' COLLATE loose)",
                  "SELECT petal_get((SELECT petal_build_map(5, 5)), key) FROM kept"):
        line = session.refusal(query)
        assert "0A000" in line and 'the collation "loose", in which unequal texts may be equal' in line, (query, line)
    assert session.ask("SELECT petal_agg(key COLLATE \"C\") @> 'Key' FROM kept") == "t"
    assert session.ask("SELECT petal_agg(key::bytea) @> 'Key' FROM kept") == "t"
    session.rows("CREATE COLLATION strict (provider = icu, locale = 'de', deterministic = true)")
    assert session.ask("SELECT petal_agg(key COLLATE strict) @> 'Key' FROM kept") == "t"


def check_hash_aggregates_that_spill(database):
    """More groups than work_mem holds: PostgreSQL spills them, because it sees what a group takes."""
    session = database.session("work_mem=1MB", "enable_sort=off", "hash_mem_multiplier=1")
    query = ("SELECT count(*), bool_and(filter @> first), sum((petal_info(filter)->>'insertions')::bigint) "
             "FROM (SELECT petal_agg(key) AS filter, min(key) AS first FROM generate_series(1::bigint, 20000) key "
             "GROUP BY key / 4) made")
    assert "HashAggregate" in str(session.rows(f"EXPLAIN {query}"))
    assert session.rows(query) == [["5001", "t", "20000"]]
    assert session.memory()[1] < 200 * 1048576


def check_compiled_expressions(database):
    """With the just-in-time compiler, if the server has one."""
    session = database.session("jit=on", "jit_above_cost=0", "jit_inline_above_cost=0", "jit_optimize_above_cost=0")
    if session.ask("SELECT pg_jit_available()") != "t":
        raise server.NotRun("the server has no compiler")
    session.rows("CREATE TABLE keys AS SELECT key, 'key ' || key AS name FROM generate_series(1::bigint, 1000) key")
    rows = session.rows("SELECT count(*) FILTER (WHERE filter @> key), count(*) FILTER (WHERE names @> name) "
                        "FROM keys, (SELECT petal_agg(key) AS filter, petal_agg(name) AS names FROM keys) made")
    assert rows == [["1000", "1000"]], rows
    assert "petal_agg: key is -1" in session.refusal("SELECT petal_agg(-key) FROM keys")
    assert session.ask("SELECT petal_get(petal_build_map(name, key), 'key 7') FROM keys") == "7"


def check_keys_of_many_megabytes(database):
    session = database.session()
    assert session.ask("SELECT petal_agg(repeat('x', 50000000), 10, 1e-9) @> repeat('x', 50000000)") == "t"
    assert session.ask("SELECT petal_agg(repeat('x', 50000000), 10, 1e-9) @> (repeat('x', 49999999) || 'y')") == "f"
    assert session.memory()[0] < 100 * 1048576


def check_few_large_values_stay_open(database):
    """Four filters of 30 MB are asked by turns: two of them are open at a time, as 64 MB have room."""
    session = database.session()
    session.rows("CREATE TABLE kept AS SELECT petal_agg(1, 24000000) AS filter UNION ALL SELECT petal_agg(2, 24000000) "
                 "UNION ALL SELECT petal_agg(3, 24000000) UNION ALL SELECT petal_agg(4, 24000000)")
    size = int(session.ask("SELECT min(length(filter::bytea)) FROM kept"))
    assert size > 29 * 1000000
    asking = database.session()
    assert asking.ask("SELECT count(*) FROM generate_series(1, 5) key, kept WHERE filter @> key") == "4"
    # After the query the backend still has the pages of the server's buffers that it touched, and no copies.
    now, most = asking.memory()
    assert size < most - now < 3 * size, (now, most)


def check_values_of_many_megabytes(database):
    session = database.session()
    session.rows("CREATE TABLE kept AS SELECT petal_agg(key, 100000000) AS filter FROM generate_series(1, 1000) key")
    assert int(session.ask("SELECT length(filter::bytea) FROM kept")) > 100 * 1048576
    assert session.ask("SELECT count(*) FROM kept, generate_series(1, 100000) key WHERE filter @> key") == "1000"
    line = session.refusal("SELECT petal_agg(1, 10000000000)")
    assert "54000: petal_agg: " in line and "500000000" in line, line
    session.rows("TRUNCATE kept")
