"""Bytes from anywhere are an error or a filter, and a damaged value in a table does no harm."""

import server

# Values of every kind that SQL makes, of some sizes.
VALUES = """
CREATE TABLE made AS
  SELECT kind, keys, petal_agg(key, keys, 0.01, kind) AS image
  FROM (SELECT planned->>'kind' AS kind FROM jsonb_array_elements(petal_plan(1000)) planned) planned,
    (VALUES (1), (60), (1000)) sizes(keys), generate_series(1, 1000) key WHERE key <= keys GROUP BY kind, keys UNION ALL
  SELECT kind, keys, petal_build_map(key, key, NULL, kind)
  FROM (VALUES ('bloomier'), ('retrieval'), ('mutable_bloomier')) kinds(kind), (VALUES (1), (60), (1000)) sizes(keys),
    generate_series(1, 1000) key WHERE key <= keys GROUP BY kind, keys;
-- What goes around the input of the type: a function of the server that gives back bytes, and says that they are petal.
CREATE FUNCTION unchecked(bytea, bytea) RETURNS petal LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE FUNCTION damaged(image bytea, seed integer) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
  first integer = CASE WHEN seed % 3 = 0 THEN 0 ELSE 256 END;
  place integer;
BEGIN
  PERFORM setseed((seed % 100003) / 100003.0);
  FOR change IN 0..seed % 8 LOOP
    EXIT WHEN length(image) <= first + 8;
    place = first + floor(random() * (length(image) - first - 7))::integer;
    CASE floor(random() * 4)::integer
      WHEN 0 THEN image = set_byte(image, place, get_byte(image, place) # (1 << floor(random() * 8)::integer));
      WHEN 1 THEN image = set_byte(image, place, floor(random() * 256)::integer);
      WHEN 2 THEN
        image = overlay(image PLACING decode(repeat(CASE WHEN random() < 0.5 THEN 'ff' ELSE '00' END, 8), 'hex')
                        FROM place + 1);
      ELSE IF seed % 7 = 0 THEN image = substr(image, 1, place); END IF;
    END CASE;
  END LOOP;
  RETURN image;
END
$$;
CREATE FUNCTION is_taken(image bytea) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM petal(image);
  RETURN true;
EXCEPTION WHEN invalid_binary_representation OR feature_not_supported THEN
  RETURN false;
END
$$;
"""

USES = ["petal_contains(image, 5)", "petal_contains(image, 'key')", "image @> 5", "petal_count(image, 5)",
        "petal_count(image, 'key')", "petal_estimate(image)", "petal_info(image)", "petal_merge(image, whole)",
        "petal_merge(whole, image)", "petal_merge(image, image)", "petal_get(image, 5)", "petal_get(image, 'key')",
        "petal_bytes(image)", "image::text", "petal_send(image)",
        "(SELECT petal_merge_agg(part) FROM unnest(ARRAY[image, whole, image]) part)",
        "(SELECT count(*) FROM generate_series(1, 100) key WHERE image @> key)",
        "(SELECT sum(petal_get(image, key)) FROM generate_series(1, 100) key)"]


def uses():
    """A function that does all with a value that can be done with it, and counts what was not refused."""
    tries = "".join(f"  BEGIN PERFORM {use}; done = done + 1; EXCEPTION WHEN OTHERS THEN NULL; END;\n" for use in USES)
    return ("CREATE FUNCTION used(image petal, whole petal) RETURNS integer LANGUAGE plpgsql AS $$\n"
            f"DECLARE\n  done integer = 0;\nBEGIN\n{tries}  RETURN done;\nEND\n$$;\n")


def times(few, many):
    return many if server.IS_SOAK else few


def check_images_of_every_kind_with_damage_are_refused(database):
    session = database.session()
    session.rows(VALUES)
    tried, taken, unchanged = map(int, session.rows(f"""
        SELECT count(*), count(*) FILTER (WHERE is_taken), count(*) FILTER (WHERE is_taken AND bytes = image)
        FROM (SELECT bytes, image, is_taken(bytes) FROM (
          SELECT damaged(image::bytea, seed) AS bytes, image::bytea AS image
          FROM made, generate_series(1, {times(60, 1500)}) seed) damaged) tried""")[0])
    assert tried > 4000, tried
    assert taken == unchanged < tried / 5, (taken, unchanged)


def check_damaged_values_do_no_harm(database):
    session = database.session()
    session.rows(VALUES)
    session.rows(uses())
    tried, done, least = map(int, session.rows(f"""
        SELECT count(*), sum(done), min(done) FROM (
          SELECT used(unchecked('\\x00000000', damaged(image::bytea, seed)), image) AS done
          FROM made, generate_series(1, {times(30, 1500)}) seed) used""")[0])
    assert tried > 2000 and done > 2 * tried, (tried, done)
    # Damage to what is read in place only: payloads in tables, compressed or not.
    session.rows("""
        CREATE TABLE kept AS SELECT image, unchecked('\\x00000000', damaged(image::bytea, seed)) AS damaged
        FROM made, generate_series(2, 6, 4) seed""")
    assert int(session.ask("SELECT sum(used(damaged, image)) FROM kept")) > 0
    assert int(session.ask("SELECT count(*) FROM kept WHERE petal_info(image) IS NOT NULL")) > 100


def check_values_of_every_length_do_no_harm(database):
    session = database.session()
    session.rows(VALUES)
    session.rows(uses())
    # Shorter than an image is: also shorter than what stands before an image.
    assert session.ask("""
        SELECT max(used(unchecked('', substr('\\x00000000'::bytea || image::bytea, 1, length)), image))
        FROM made, generate_series(0, 323) length WHERE keys = 1 AND kind IN ('blocked', 'fuse', 'bloomier')""") == "0"
    assert session.ask("""
        SELECT count(*) FROM (SELECT used(unchecked('\\x00000000', substr(image::bytea, 1, length)), image)
          FROM made, generate_series(320, 640, 5) length WHERE keys = 1) used""") != "0"
    line = session.refusal("SELECT petal_info(unchecked('', ''))")
    assert line == "ERROR:  XX001: petal_info: the value has 4 bytes, fewer than an image has", line


def check_damaged_copies_are_refused(database):
    """The same through COPY, in both of its forms."""
    session = database.session()
    session.rows(VALUES)
    session.rows("CREATE TABLE bytes (image bytea); CREATE TABLE kept (image petal)")
    for form in ("binary", "text"):
        path = server.FILES / "damaged.copy"
        for seed in range(2, 62, 5):
            session.rows(f"TRUNCATE bytes; INSERT INTO bytes SELECT damaged(image::bytea, {seed}) FROM made "
                         f"WHERE kind = 'cuckoo' AND keys = 60; COPY bytes TO '{path}' (FORMAT {form})")
            taken = session.ask("SELECT is_taken(image) FROM bytes") == "t"
            if taken:
                session.rows(f"COPY kept FROM '{path}' (FORMAT {form})")
            else:
                line = session.refusal(f"COPY kept FROM '{path}' (FORMAT {form})")
                assert "22P03: petal: " in line, line
