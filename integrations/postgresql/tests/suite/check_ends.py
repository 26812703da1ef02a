"""Queries that end early: killed, cancelled, out of time or with an error. Nothing stays behind."""

import os
import signal
import threading

import server

# A query whose builder spills: 16 bytes a key, and 1 MB of memory.
SPILLS = "SELECT length(petal_agg(key, NULL, 0.01, 'fuse')::bytea) FROM generate_series(1::bigint, 5000000) key"
# The same for the final build alone, which has begun when the notice comes.
NOTES = """
CREATE FUNCTION noted(key bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RAISE NOTICE 'the last key';
  RETURN key;
END
$$;
"""
MEGABYTE = 1048576


def builds(keys, made):
    """A query that says when its last key comes."""
    key = f"CASE WHEN key < {keys} THEN key ELSE noted(key) END"
    return f"SELECT length({made.format(key)}::bytea) FROM generate_series(1::bigint, {keys}) key"


def check_a_killed_backend_leaves_no_file(database):
    """The server starts anew from its log, and the values of before are there."""
    session = database.session("work_mem=1MB")
    session.rows("CREATE TABLE kept AS SELECT id, petal_agg(key, 30 * id) AS filter FROM generate_series(1, 500) id, "
                 "generate_series(1, 10) key GROUP BY id")
    digest = "SELECT md5(string_agg(filter::text, ' ' ORDER BY id)) FROM kept"
    wanted = session.ask(digest)
    session.send(SPILLS)
    server.wait_until(session.temporary_files, "the builder has not spilled")
    os.kill(session.pid, signal.SIGKILL)
    try:
        raise AssertionError(f"killed, and answered {session.answer()}")
    except server.Failed:
        pass
    server.wait_until(server.has_started, "the server does not come back")
    server.expect_crash()
    assert not server.left_files(), server.left_files()
    assert server.run("SELECT petal_agg(5) @> 5", database.name) == "t"
    assert server.run(digest, database.name) == wanted


def final_build(session, query, meanwhile=lambda: None):
    """What a query answers, or its error, and what it took of a processor after its last key."""
    session.send(query)
    for line in session.lines():
        if "the last key" in line:
            break
    else:
        raise AssertionError("the query ended before its last key")
    begun = session.processor_time()
    meanwhile()
    try:
        answer = session.answer()
    except server.Failed as why:
        answer = str(why)
    return answer, session.processor_time() - begun


def check_cancelled_builds_end(database):
    """The build of some million keys ends with the query, wherever it is, and gives its memory back."""
    session = database.session("work_mem=1MB")
    session.rows(NOTES)
    others = database.session()
    made = ["petal_agg({}, NULL, 0.01, 'fuse')", "petal_agg({}, NULL, 0.001, 'ribbon')", "petal_build_map({}, 5)",
            "petal_agg({}, 2000000, 0.01, 'fuse')"]
    for place, each in enumerate(made):
        query = builds(2000000, each)
        whole = None
        # Some are also made whole, to see that the others end within the build and not after it.
        if place in (0, 2):
            answer, whole = final_build(session, query)
            assert int(answer[0][0]) > 500000, answer
        before, _ = session.memory()
        answer, part = final_build(session, query, lambda: others.rows(f"SELECT pg_cancel_backend({session.pid})"))
        assert "57014: canceling statement due to user request" in answer, (each, answer)
        assert whole is None or part < whole / 2, (each, part, whole)
        after, _ = session.memory()
        assert after < before + 32 * MEGABYTE, (each, before, after)
        assert not session.temporary_files() and not server.left_files()
        assert session.ask("SELECT petal_agg(5) @> 5") == "t"


def check_queries_cancelled_at_any_time_end(database):
    session = database.session("work_mem=1MB")
    session.rows(NOTES)
    before = None
    outcomes = set()
    for milliseconds in (1, 20, 100, 300, 700, 1200, 2000):
        session.rows(f"SET statement_timeout = {milliseconds}")
        try:
            session.rows(builds(2000000, "petal_agg({}, NULL, 0.01, 'fuse')"))
            outcomes.add("answered")
        except server.Failed as why:
            assert "57014: canceling statement due to statement timeout" in str(why), why
            outcomes.add("cancelled")
        session.rows("SET statement_timeout = 0")
        assert not session.temporary_files() and not server.left_files()
        now, _ = session.memory()
        before = before or now
        assert now < before + 32 * MEGABYTE, (milliseconds, before, now)
    assert "cancelled" in outcomes


def check_cancelled_parallel_builds_end(database):
    session = database.session("work_mem=1MB", "max_parallel_workers_per_gather=2", "parallel_setup_cost=0",
                               "parallel_tuple_cost=0", "min_parallel_table_scan_size=0")
    session.rows("CREATE TABLE keys AS SELECT key FROM generate_series(1::bigint, 1500000) key; ANALYZE keys")
    query = "SELECT length(petal_agg(key, NULL, 0.01, 'fuse')::bytea) FROM keys"
    assert "Partial Aggregate" in str(session.rows(f"EXPLAIN {query}"))
    whole = session.ask(query)
    for milliseconds in (50, 200, 400):
        session.rows(f"SET statement_timeout = {milliseconds}")
        try:
            assert session.ask(query) == whole
        except server.Failed as why:
            assert "57014" in str(why), why
        session.rows("SET statement_timeout = 0")
        server.wait_until(lambda: not server.left_files(), "files of workers stay")
    assert session.ask(query) == whole


def check_a_terminated_backend_ends(database):
    session = database.session("work_mem=1MB")
    session.rows(NOTES)
    session.send(builds(3000000, "petal_agg({}, NULL, 0.01, 'fuse')"))
    for line in session.lines():
        if "the last key" in line:
            break
    server.run(f"SELECT pg_terminate_backend({session.pid})")
    try:
        raise AssertionError(f"terminated, and answered {session.answer()}")
    except server.Failed as why:
        assert "57P01" in str(why) or "has ended" in str(why), why
    server.wait_until(lambda: not server.left_files(), "a file stays")


# Each holds some hundred kilobytes of the library's memory when its error comes.
ERRORS = ["SELECT petal_agg(CASE WHEN key < 10000 THEN key ELSE -1 END) FROM generate_series(1, 10000) key",
          "SELECT petal_agg(key, 100000, 0.001 + key / 10000 * 0.1) FROM generate_series(1, 10000) key",
          "SELECT petal_agg(key, 1000, 0.01, 'cuckoo') FROM generate_series(1, 10000) key",
          "SELECT petal_build_map(key % 9999, key) FROM generate_series(1, 10000) key",
          "SELECT petal_agg(key, 0, 0.01, 'fuse') @> (1 / count(nullif(key, key))) FROM generate_series(1, 10000) key",
          """SELECT petal_merge_agg(f) FROM (SELECT petal_agg(k, 100000 * k) AS f FROM generate_series(1, 2) k
             GROUP BY k) made""",
          "SELECT petal_merge(a, b) FROM (SELECT petal_agg(1, 100000) AS a, petal_agg(1, 99999, 0.1) AS b) m",
          "SELECT petal_contains(a, -5) FROM (SELECT petal_agg(1, 100000) AS a OFFSET 0) m",
          "SELECT petal_count(a, 5) FROM (SELECT petal_agg(1, 100000) AS a OFFSET 0) m",
          "SELECT petal_get(a, 5) FROM (SELECT petal_agg(1, 100000) AS a OFFSET 0) m",
          "SELECT petal(a::bytea || '\\x00') FROM (SELECT petal_agg(1, 100000) AS a OFFSET 0) m"]


def check_errors_keep_no_memory(database):
    session = database.session()
    session.rows("""
        CREATE FUNCTION tried(query text, times integer) RETURNS integer LANGUAGE plpgsql AS $$
        DECLARE
          errors integer = 0;
        BEGIN
          FOR time IN 1..times LOOP
            BEGIN
              EXECUTE query;
            EXCEPTION WHEN OTHERS THEN errors = errors + 1;
            END;
          END LOOP;
          RETURN errors;
        END
        $$""")
    for inside in (True, False):
        for query in ERRORS:
            measured = []
            for times in (20, 180):
                if inside:
                    quoted = query.replace("'", "''")
                    assert session.ask(f"SELECT tried('{quoted}', {times})") == str(times), query
                else:
                    for _ in range(times // 4):
                        session.refusal(query)
                measured.append(session.memory()[0])
            assert measured[1] < measured[0] + 8 * MEGABYTE, (query, inside, measured)


def check_long_sessions_keep_no_memory(database):
    """Every function many times, in one query and in many."""
    session = database.session()
    session.rows("CREATE TABLE kept AS SELECT id, petal_agg(id * 1000 + key, 20000) AS filter, "
                 "petal_build_map(key, key) AS map FROM generate_series(1, 20) id, generate_series(1, 500) key "
                 "GROUP BY id")
    queries = [
        """SELECT count(*) FROM kept a, kept b, generate_series(1, {0}) t
           WHERE (CASE WHEN t % 2 = 0 THEN a.filter ELSE b.filter END) @> t""",
        "SELECT count(petal_info(filter)) + count(petal_info(map)) FROM kept, generate_series(1, {0}) t WHERE t > 0",
        "SELECT count(petal_merge(a.filter, b.filter)) FROM kept a, kept b, generate_series(1, {0} / 20 + 1) t WHERE t > 0",
        """SELECT count(f) FROM (SELECT petal_merge_agg(a.filter) AS f FROM kept a, generate_series(1, {0}) t
           GROUP BY t) made""",
        """SELECT count(f) FROM (SELECT petal_agg(t % 7) AS f FROM generate_series(1, {0} * 20) t
           GROUP BY t / 5) made""",
        """SELECT count(f) FROM (SELECT petal_build_map(t, 7) AS f FROM generate_series(1, {0} * 20) t
           GROUP BY t / 5) made""",
        "SELECT count(petal_get(map, t)) FROM kept, generate_series(1, {0}) t",
        "SELECT count(filter::text::petal) FROM kept, generate_series(1, {0} / 10 + 1) t WHERE t > 0"]
    for query in queries:
        measured = []
        for rows in (20, 200):
            for _ in range(3):
                session.rows(query.format(rows))
            measured.append(session.memory())
        (now, most), (later, later_most) = measured
        assert later < now + 8 * MEGABYTE and later_most < most + 24 * MEGABYTE, (query, measured)


def check_temporary_files_go_where_the_session_says(database):
    """To the tablespace of temp_tablespaces; and a folder that is not to be written is an error with its name."""
    place = server.HOME / "tablespace"
    place.mkdir(exist_ok=True)
    stat = server.DATA.stat()
    os.chown(place, stat.st_uid, stat.st_gid)
    place.chmod(0o700)
    server.run(f"CREATE TABLESPACE petal_space LOCATION '{place}'")
    try:
        session = database.session("work_mem=64kB", "temp_tablespaces=petal_space")
        session.send(SPILLS.replace("5000000", "1000000"))
        seen = []
        watched = threading.Event()

        def watch():
            while not watched.is_set():
                seen.extend(session.temporary_files())
                watched.wait(0.005)

        watcher = threading.Thread(target=watch)
        watcher.start()
        rows = session.answer()
        watched.set()
        watcher.join()
        assert len(rows) == 1 and seen and all("/pg_tblspc/" in file or str(place) in file for file in seen), seen[:3]
    finally:
        for each in database.sessions:
            each.close()
        database.sessions.clear()
        server.run("DROP TABLESPACE petal_space")
