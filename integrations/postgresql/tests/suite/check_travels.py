"""Values and the extension on their ways: dumps, replication, updates, other owners."""

import server

FILTERS = """
CREATE TABLE kept (id integer PRIMARY KEY, filter petal, filters petal[]);
INSERT INTO kept SELECT id, petal_agg(key, 10 * id), ARRAY[petal_agg(key), NULL] FROM generate_series(1, 200) id,
  generate_series(1, 20) key GROUP BY id;
INSERT INTO kept SELECT 1000, petal_agg(key), NULL FROM generate_series(1, 100000) key;
INSERT INTO kept SELECT 1001, petal_build_map(key, key), '{}' FROM generate_series(1, 1000) key;
INSERT INTO kept VALUES (1002, NULL, NULL);
"""
SUM = """SELECT md5(string_agg(id || coalesce(filter::text, 'none') || coalesce(filters::text, 'none'), ' ' ORDER BY id))
  FROM kept"""


def check_dumps_give_the_same_bytes(database):
    session = database.session()
    session.rows(FILTERS)
    session.rows("CREATE VIEW asked AS SELECT id, filter @> 5 AS has FROM kept")
    seven = session.ask("SELECT petal_agg(7)")
    session.rows(f"CREATE TABLE guarded (id bigint DEFAULT 7 CHECK ('{seven}'::petal @> id))")
    session.rows("CREATE INDEX ON kept ((petal_info(filter)->>'kind'))")
    wanted = session.ask(SUM)
    for form in ("plain", "custom"):
        dump = server.call(server.PROGRAMS / "pg_dump", "-d", database.name, "-F", form)
        with server.Database(has_petal=False) as other:
            if form == "plain":
                text = dump.decode()
                assert text.count("CREATE EXTENSION IF NOT EXISTS petal") == 1, form
                for word in ("CREATE FUNCTION", "CREATE AGGREGATE", "CREATE TYPE", "CREATE OPERATOR", "CREATE CAST"):
                    assert word not in text, word
                server.run(text, other.name)
            else:
                server.call(server.PROGRAMS / "pg_restore", "-d", other.name, input=dump)
            assert server.run(SUM, other.name) == wanted, form
            assert server.run("SELECT has FROM asked WHERE id = 1000", other.name) == "t"
            server.run("INSERT INTO guarded DEFAULT VALUES", other.name)


def check_logical_replication(database):
    publisher = database.session()
    publisher.rows(FILTERS)
    publisher.rows("CREATE PUBLICATION published FOR TABLE kept")
    slot = f"slot_{database.name}"
    publisher.rows(f"SELECT pg_create_logical_replication_slot('{slot}', 'pgoutput')")
    with server.Database() as other:
        subscriber = other.session()
        subscriber.rows("CREATE TABLE kept (id integer PRIMARY KEY, filter petal, filters petal[])")
        subscriber.rows(f"""CREATE SUBSCRIPTION subscribed CONNECTION 'dbname={database.name} user=postgres
            host={server.HOME}/socket' PUBLICATION published WITH (create_slot = false, slot_name = {slot})""")
        try:
            larger = "UPDATE kept SET filter = (SELECT petal_agg(key) FROM generate_series(1, 3000) key) WHERE id = {}"
            for change in ("SELECT 1",
                           "INSERT INTO kept SELECT 2000 + id, petal_agg(id, 5000) FROM generate_series(1, 9) id GROUP BY id",
                           larger.format(5), "UPDATE kept SET id = id + 5000 WHERE id > 900",
                           "DELETE FROM kept WHERE id < 50"):
                publisher.rows(change)
                wanted = publisher.ask(SUM)
                server.wait_until(lambda: subscriber.ask(SUM) == wanted, f"replicated: {change}")
            subscriber.rows("ALTER SUBSCRIPTION subscribed SET (binary = true)")
            publisher.rows(larger.format(60))
            wanted = publisher.ask(SUM)
            server.wait_until(lambda: subscriber.ask(SUM) == wanted, "replicated in binary")
            assert subscriber.ask("SELECT filter @> 2999 FROM kept WHERE id = 60") == "t"
        finally:
            subscriber.rows("ALTER SUBSCRIPTION subscribed DISABLE")
            subscriber.rows("ALTER SUBSCRIPTION subscribed SET (slot_name = NONE)")
            subscriber.rows("DROP SUBSCRIPTION subscribed")
            active = f"SELECT active FROM pg_replication_slots WHERE slot_name = '{slot}'"
            server.wait_until(lambda: server.run(active) == "f", "the slot stays active")
            publisher.rows(f"SELECT pg_drop_replication_slot('{slot}')")


def check_updates_and_drops(database):
    session = database.session()
    session.rows(FILTERS)
    wanted = session.ask(SUM)
    (server.SHARED / "petal--0.1.0--test.sql").write_text(
        "CREATE FUNCTION petal_test(filter petal) RETURNS boolean LANGUAGE sql AS 'SELECT filter @> 5';\n")
    session.rows("ALTER EXTENSION petal UPDATE TO 'test'")
    assert session.ask("SELECT extversion FROM pg_extension WHERE extname = 'petal'") == "test"
    assert session.ask("SELECT bool_and(petal_test(filter)) FROM kept WHERE id <= 1000") == "t"
    assert session.ask(SUM) == wanted
    refused = session.refusal("DROP EXTENSION petal")
    assert "2BP01" in refused, refused
    session.rows("DROP EXTENSION petal CASCADE")
    assert session.ask("SELECT string_agg(attname, ' ') FROM pg_attribute WHERE attrelid = 'kept'::regclass "
                       "AND attnum > 0 AND NOT attisdropped") == "id"
    assert session.ask("SELECT count(*) FROM pg_proc WHERE proname LIKE 'petal%'") == "0"
    assert session.ask("SELECT count(*) FROM pg_type WHERE typname LIKE '%petal%'") == "0"
    session.rows("CREATE SCHEMA other; CREATE EXTENSION petal SCHEMA other")
    assert session.ask("SELECT other.petal_contains(other.petal_agg(5), 5)") == "t"
    assert session.ask("SELECT other.petal_agg(5) OPERATOR(other.@>) 5") == "t"
    session.rows("CREATE SCHEMA third; ALTER EXTENSION petal SET SCHEMA third")
    assert session.ask("SELECT third.petal_contains(third.petal_agg(5), 5)") == "t"


def check_the_owner_of_a_database_creates_it(database):
    """The extension is trusted: its owner need not be a superuser, and gets no more by it."""
    role = f"owner_{database.name}"
    server.run(f"CREATE ROLE {role} LOGIN")
    try:
        with server.Database(f"OWNER {role}", has_petal=False) as own:
            server.run("CREATE EXTENSION petal; CREATE TABLE kept AS SELECT petal_agg(5) AS filter", own.name, role)
            assert server.run("SELECT filter @> 5 FROM kept", own.name, role) == "t"
            for query in ("CREATE FUNCTION f() RETURNS text AS '$libdir/petal', 'petal_sql_version' LANGUAGE c",
                          "SELECT petal(pg_read_binary_file('PG_VERSION'))"):
                try:
                    raise AssertionError(f"{query} gave {server.run(query, own.name, role)}")
                except server.Failed as why:
                    assert "permission denied" in str(why), why
            server.run("DROP EXTENSION petal CASCADE", own.name, role)
    finally:
        server.run(f"DROP ROLE {role}")
