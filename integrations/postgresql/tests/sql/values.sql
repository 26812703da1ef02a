-- Values: in and out, in tables and wherever PostgreSQL puts them, and what functions keep of them between rows.
\set ECHO errors
\pset format unaligned
\pset null NULL

CREATE FUNCTION said(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  EXECUTE query INTO answer;
  RETURN coalesce(answer, 'NULL');
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
-- Filters of 10 keys, one for each id, some thousand bytes each: with a capacity, so that all are of one size.
CREATE FUNCTION of(id bigint, capacity bigint = 5000, kind text = 'blocked') RETURNS petal LANGUAGE sql AS $$
  SELECT petal_agg(1000 * id + key, capacity, 0.0001, kind) FROM generate_series(0, 9) key
$$;
-- Whether a filter is the one of this id.
CREATE FUNCTION is(filter petal, id bigint) RETURNS boolean LANGUAGE sql AS $$
  SELECT bool_and((filter @> (1000 * id + key)) AND NOT (filter @> (1000 * id + 500 + key))) FROM generate_series(0,
    9) key
$$;

\echo In and out, as text, binary and bytea:
CREATE TABLE kept (id bigint, filter petal);
INSERT INTO kept SELECT id, of(id) FROM generate_series(1, 9) id;
INSERT INTO kept VALUES (10, of(10, 10)), (11, of(11, 200000)), (12, of(12, 10, 'fuse')), (13, NULL);
CREATE TEMPORARY TABLE copies (LIKE kept);
SELECT bool_and(filter::text::petal::bytea = filter::bytea) AS text,
  bool_and(petal(petal_bytes(filter))::bytea = filter::bytea) AS bytes,
  bool_and(petal_send(filter) = filter::bytea) AS send, bool_and(is(filter::text::petal, id)) AS opened,
  bool_and(encode(filter::bytea, 'escape')::bytea::petal::text = filter::text) AS escaped,
  bool_and(length(filter::bytea) = (petal_info(filter)->>'bytes')::integer) AS length FROM kept;
\copy kept TO results/values.copy WITH (FORMAT binary)
\copy copies FROM results/values.copy WITH (FORMAT binary)
SELECT count(*) AS binary, bool_and(kept.filter::bytea IS NOT DISTINCT FROM copies.filter::bytea) AS same
  FROM kept JOIN copies USING (id);
TRUNCATE copies;
\copy kept TO results/values.copy
\copy copies FROM results/values.copy
SELECT count(*) AS text, bool_and(kept.filter::bytea IS NOT DISTINCT FROM copies.filter::bytea) AS same
  FROM kept JOIN copies USING (id);
TRUNCATE copies;
\copy kept TO results/values.copy WITH (FORMAT csv, FORCE_QUOTE *)
\copy copies FROM results/values.copy WITH (FORMAT csv)
SELECT count(*) AS csv, bool_and(kept.filter::bytea IS NOT DISTINCT FROM copies.filter::bytea) AS same
  FROM kept JOIN copies USING (id);
SET bytea_output = escape;
SELECT bool_and(filter::text::petal::bytea = filter::bytea) AS escape FROM kept;
RESET bytea_output;

\echo What is no image:
CREATE TABLE images AS SELECT * FROM (VALUES ('filter', of(1, 100)), ('fuse', of(1, 100, 'fuse')),
  ('scalable', of(1, 100, 'scalable')), ('map', (SELECT petal_build_map(key, key) FROM generate_series(1, 99) key)))
  made(name, image);
SELECT said(query) AS answer FROM unnest(ARRAY['SELECT ''''::petal', 'SELECT ''petal''::petal',
  'SELECT ''\x''::petal',
  'SELECT ''\x0''::petal', 'SELECT petal(''\x00'')', 'SELECT petal(repeat(''a'', 320)::bytea)',
    'SELECT petal(repeat(''a'', 320))',
  'SELECT petal(''\x89504554414c0d0a'')', 'SELECT petal_bytes(''\x00'')',
  'SELECT ''\x89504554414c0d0a''::bytea::petal']) query;
SELECT name, said(format('SELECT petal(%L::bytea || ''\x00'')', image)) AS one_byte_more,
  said(format('SELECT petal(%L::bytea || decode(repeat(''00'', 64), ''hex''))', image)) LIKE '22P03%64 follow it'
    AS more,
  said(format('SELECT petal(%L::bytea || %1$L::bytea)', image)) LIKE '22P03%follow it' AS twice,
  said(format('SELECT petal(''\x00''::bytea || %L::bytea)', image)) LIKE '22P03%' AS shifted
FROM images;
SELECT name, count(*) AS lengths, bool_and(answer LIKE '22P03 petal: %') AS refused
FROM images, generate_series(0, length(image::bytea) - 1, 7) cut,
  said(format('SELECT petal(substr(%L::bytea, 1, %s))', image, cut)) answer GROUP BY name ORDER BY name;
SELECT name, count(*) AS bytes, bool_and(answer LIKE '22P03 petal: %') AS refused
FROM images, generate_series(0, length(image::bytea) - 1, 3) place, LATERAL (SELECT image::bytea
  AS bytes) image_bytes,
  said(format('SELECT petal(%L::bytea)', set_byte(bytes, place, get_byte(bytes, place) # 16))) answer
GROUP BY name ORDER BY name;
SELECT name, bool_or(answer LIKE '%of map%') AS says_of_map, count(DISTINCT answer) > 1 AS says_what
FROM images, generate_series(256, length(image::bytea) - 1, 13) place, LATERAL (SELECT image::bytea
  AS bytes) image_bytes,
  said(format('SELECT petal(%L::bytea)', set_byte(bytes, place, get_byte(bytes, place) # 1))) answer
WHERE name = 'map' GROUP BY name;
SELECT said('INSERT INTO kept VALUES (99, ''\x00'')') AS literal,
  said('INSERT INTO kept VALUES (99, ''\x00''::bytea)') AS assigned;

\echo Filters and maps of tables, whatever their storage:
CREATE TABLE stored (id bigint, inline petal, main petal, extended petal, external petal);
ALTER TABLE stored ALTER COLUMN inline SET STORAGE PLAIN, ALTER COLUMN main SET STORAGE MAIN,
  ALTER COLUMN extended SET STORAGE EXTENDED;
INSERT INTO stored SELECT id, of(id, 500), of(id, 500), of(id, 500), of(id, 500) FROM generate_series(1, 20) id;
INSERT INTO stored SELECT id, of(id, 10), of(id, 4000), of(id, 4000), of(id, 4000) FROM generate_series(21, 40) id;
INSERT INTO stored SELECT id, of(id, 10), of(id, 100000), of(id, 100000), of(id, 100000) FROM generate_series(41,
  44) id;
SELECT bool_or(pg_column_size(extended) < length(extended::bytea)) AS compressed, bool_and(is(inline, id)) AS inline,
  bool_and(is(main, id)) AS main, bool_and(is(extended, id)) AS extended, bool_and(is(external, id)) AS external,
  bool_and(petal_info(main)->'kind' = petal_info(extended)->'kind') AS info,
  bool_and(abs(petal_estimate(main) - 10) < 1 AND abs(petal_estimate(external) - 10) < 1) AS estimate,
  bool_and(petal_bytes(petal_merge(main, extended)) = petal_bytes(petal_merge(external, main))) AS merge FROM stored;

\echo Inside of rows and arrays, behind fields of odd lengths:
CREATE TYPE odd AS (a "char", filter petal, b "char", other petal);
SELECT bool_and(is((whole).filter, id) AND is((whole).other, id + 1)) AS in_rows, bool_and(is(filters[1], id)
  AND is(filters[3], id + 1) AND
  filters[2] IS NULL) AS in_arrays, bool_and(is((rows[2]).other, id)) AS rows_in_arrays
FROM (SELECT id, row('a', of(id, 10), 'b', of(id + 1, 10))::odd AS whole, ARRAY[of(id, 10), NULL, of(id + 1, 5000)]
  AS filters,
             ARRAY[row('a', of(id, 10), 'b', NULL)::odd, row('x', NULL, 'y', of(id, 10))::odd] AS rows
               FROM generate_series(1, 9) id) made;
CREATE TABLE odds (a "char", whole odd, b "char", filters petal[], c "char", filter petal);
INSERT INTO odds SELECT 'a', row('a', of(id, 10), 'b', of(id + 1, 10))::odd, 'b', ARRAY[of(id, 10), NULL, of(id + 1,
  10)], 'c', of(id, 10)
  FROM generate_series(1, 9) id;
SELECT count(*) FILTER (WHERE is((whole).filter, id)) AS field, count(*) FILTER (WHERE is((whole).other, id + 1))
  AS other,
  count(*) FILTER (WHERE is(filters[1], id)) AS element, count(*) FILTER (WHERE is(filters[3], id + 1)) AS last,
  count(*) FILTER (WHERE is(filter, id)) AS column
FROM (SELECT *, row_number() OVER () AS id FROM odds) numbered;
SELECT count(*) AS unnested, count(DISTINCT id) AS ids
FROM odds, unnest(filters) element, generate_series(1, 12) id WHERE is(element, id);

\echo Filters that alternate row by row in one call, of one size and of several:
SELECT count(*) AS rows, bool_and(is(CASE WHEN turn % 2 = 0 THEN a.filter ELSE b.filter END, CASE WHEN turn % 2 = 0
  THEN a.id ELSE b.id END)) AS right
FROM kept a, kept b, generate_series(1, 4) turn WHERE a.id < 13 AND b.id < 13;
SELECT count(*) AS rows, bool_and(kept.filter @> (1000 * key + 5) = (kept.id = key)) AS right FROM kept,
  generate_series(1, 12) key WHERE id < 13;
SELECT count(*) AS rows, bool_and(kept.filter @> (1000 * key + 5) = (kept.id = key)) AS right
FROM generate_series(1, 12) key, (SELECT * FROM kept WHERE id < 13 ORDER BY id OFFSET 0) kept;
SELECT count(*) AS rows, bool_and(of(id) @> (1000 * key + 5) = (id = key)) AS made_in_each_row
  FROM generate_series(1, 9) id, generate_series(1, 9) key;
SELECT count(*) AS rows, bool_and(is(of(id, capacity), id)) AS of_all_sizes FROM generate_series(1, 20) id,
  unnest(ARRAY[10, 50, 3000, 70000]) capacity;

-- At one address in every row, and mostly of one size: what tells them apart is the header, or only the checksum.
SELECT kind, count(*) AS rows, bool_and(of(id, 10, kind) @> (1000 * id + 5)) AS found,
  count(*) FILTER (WHERE of(id, 10, kind) @> (1000 * id + 505)) < 5 AS others
FROM generate_series(1, 40) id,
  unnest(ARRAY['blocked', 'bloom', 'fuse', 'ribbon', 'cuckoo', 'scalable', 'quotient', 'signatures', 'exact_set']) kind
GROUP BY kind ORDER BY kind;
CREATE FUNCTION varied(turn bigint) RETURNS petal LANGUAGE sql AS $$
  SELECT petal_agg(key, 10, 0.6 - 0.1 * (turn % 5), (ARRAY['blocked', 'bloom', 'split_block', 'fuse'])[turn / 5 % 4 + 1])
  FROM generate_series(turn, turn + 9) key
$$;
SELECT count(*) AS rows, bool_and(varied(turn) @> (turn + 5)) AS found FROM generate_series(1, 400) turn;

\echo A filter that changes between two calls of a prepared statement:
PREPARE ask(bigint) AS SELECT string_agg((filter @> $1)::text, ' ' ORDER BY id) FROM kept WHERE id IN (1, 2, 11);
SET plan_cache_mode = force_generic_plan;
EXECUTE ask(1005);
UPDATE kept SET filter = of(77) WHERE id = 1;
EXECUTE ask(1005);
EXECUTE ask(77005);
UPDATE kept SET filter = of(11, 200000) WHERE id IN (1, 2);
EXECUTE ask(11005);
PREPARE ask_it(petal, bigint) AS SELECT $1 @> $2;
EXECUTE ask_it(of(1), 1005);
EXECUTE ask_it(of(2), 1005);
EXECUTE ask_it(of(1, 200000), 1005);
EXECUTE ask_it(of(2, 200000), 1005);
RESET plan_cache_mode;
DEALLOCATE ALL;
UPDATE kept SET filter = of(id) WHERE id IN (1, 2);

\echo Loops of PL/pgSQL, with errors between the calls:
CREATE FUNCTION loops(big bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  filter petal;
  map petal = (SELECT petal_build_map(key, key) FROM generate_series(1, 99) key);
  refusals integer = 0;
  wrong integer = 0;
BEGIN
  FOR id IN 1..200 LOOP
    filter = of(id, CASE WHEN id % 3 = 0 THEN big ELSE 100 END);
    IF id % 7 = 0 THEN
      BEGIN
        IF map @> 5 THEN wrong = wrong + 1; END IF;
      EXCEPTION WHEN feature_not_supported THEN refusals = refusals + 1;
      END;
    END IF;
    BEGIN
      -- The same call with a filter, and then with a map in its place.
      FOR turn IN 1..3 LOOP
        IF (filter @> (1000::bigint * id + 5)) IS DISTINCT FROM true THEN wrong = wrong + 1; END IF;
        IF turn = 2 AND id % 2 = 0 THEN filter = map; END IF;
      END LOOP;
    EXCEPTION WHEN feature_not_supported THEN refusals = refusals + 1;
    END;
    BEGIN
      IF filter @> (-id) THEN wrong = wrong + 1; END IF;
    EXCEPTION WHEN OTHERS THEN refusals = refusals + 1;
    END;
  END LOOP;
  RETURN format('%s refusals, %s wrong', refusals, wrong);
END
$$;
SELECT loops(10) AS small, loops(5000) AS large, loops(100000) AS toasted;
CREATE FUNCTION loops_over_table() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  asked petal;
  wrong integer = 0;
BEGIN
  FOR turn IN 1..30 LOOP
    UPDATE kept SET filter = of(turn, CASE WHEN turn % 3 = 0 THEN 10 ELSE 200000 END) WHERE kept.id = 3;
    SELECT filter INTO asked FROM kept WHERE kept.id = 3;
    IF NOT is(asked, turn) OR NOT (asked @> (1000::bigint * turn + 5)) OR asked @> (1000::bigint * turn + 1005)
      THEN wrong = wrong + 1; END IF;
    IF NOT (SELECT filter @> (1000::bigint * turn + 5) FROM kept WHERE kept.id = 3) THEN wrong = wrong + 1; END IF;
    IF turn % 5 = 0 THEN
      BEGIN
        UPDATE kept SET filter = of(99, 200000) WHERE kept.id = 3;
        IF (SELECT filter @> (1000::bigint * turn + 5) FROM kept WHERE kept.id = 3) THEN wrong = wrong + 1; END IF;
        RAISE EXCEPTION 'undone';
      EXCEPTION WHEN raise_exception THEN NULL;
      END;
      IF NOT (SELECT filter @> (1000::bigint * turn + 5) FROM kept WHERE kept.id = 3) THEN wrong = wrong + 1; END IF;
    END IF;
  END LOOP;
  RETURN format('%s wrong', wrong);
END
$$;
SELECT loops_over_table();
UPDATE kept SET filter = of(3) WHERE id = 3;
DO $$
DECLARE
  asked petal;
BEGIN
  FOR turn IN 1..6 LOOP
    SELECT filter INTO asked FROM kept WHERE id = turn;
    IF turn = 3 THEN COMMIT; END IF;
    IF turn = 4 THEN ROLLBACK; END IF;
    ASSERT asked @> (1000 * turn + 5), turn;
  END LOOP;
END
$$;

\echo Values in defaults, checks, indexes, generated columns, triggers and partitions:
SELECT of(7, 100) AS seven \gset
CREATE TABLE guarded (id bigint CHECK (:'seven'::petal @> id), known boolean GENERATED ALWAYS
  AS (:'seven'::petal @> (id + 1)) STORED);
INSERT INTO guarded SELECT 7000 + id FROM generate_series(0, 9) id;
SELECT said('INSERT INTO guarded VALUES (5)') LIKE '23514%' AS checked, count(*) FILTER (WHERE known) AS known
  FROM guarded;
CREATE INDEX by_filter ON guarded ((:'seven'::petal @> (id + 2)));
CREATE INDEX partial ON guarded (id) WHERE :'seven'::petal @> (id + 3);
SET enable_seqscan = off;
SELECT count(*) AS by_index FROM guarded WHERE :'seven'::petal @> (id + 2);
SELECT count(*) AS by_partial FROM guarded WHERE :'seven'::petal @> (id + 3) AND id > 0;
RESET enable_seqscan;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE kept SET filter = petal_merge(filter, (SELECT petal_agg(row.id, 5000, 0.0001) FROM inserted row))
    WHERE kept.id = 1;
  RETURN NULL;
END
$$;
CREATE TRIGGER noted AFTER INSERT ON guarded REFERENCING NEW TABLE
  AS inserted FOR EACH STATEMENT EXECUTE FUNCTION note();
INSERT INTO guarded SELECT 7000 + id FROM generate_series(3, 5) id;
SELECT bool_and(filter @> (7000 + key) = (key BETWEEN 3 AND 5)) AS noted, bool_and(filter @> (1000 + key)) AS before
FROM kept, generate_series(0, 9) key WHERE id = 1;
CREATE TABLE split (id bigint) PARTITION BY LIST ((:'seven'::petal @> id));
CREATE TABLE split_in PARTITION OF split FOR VALUES IN (true);
CREATE TABLE split_out PARTITION OF split FOR VALUES IN (false);
INSERT INTO split SELECT id FROM generate_series(6995, 7014) id;
SELECT (SELECT count(*) FROM split_in) AS inside, (SELECT count(*) FROM split_out) AS outside;
WITH RECURSIVE grown(step, filter) AS (
  SELECT 1, of(1, 100) UNION ALL
  SELECT step + 1, petal_merge(filter, of(step + 1, 100)) FROM grown WHERE step < 9)
SELECT step, (SELECT count(*) FROM generate_series(1, 9) id WHERE filter @> (1000 * id + 5)) AS found FROM grown
  WHERE step IN (1, 5, 9);

\echo Values that the server moves, plans in parallel, and keeps behind cursors:
ANALYZE kept;
VACUUM FULL kept;
ALTER TABLE kept ADD UNIQUE (id);
CLUSTER kept USING kept_id_key;
SELECT count(*) FILTER (WHERE is(filter, id)) AS clustered FROM kept WHERE id BETWEEN 4 AND 12;
CREATE TABLE asked AS SELECT key FROM generate_series(1::bigint, 20000) key;
ALTER TABLE asked SET (parallel_workers = 3);
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT count(*) AS of_one FROM asked WHERE (SELECT filter FROM kept WHERE id = 4) @> key;
SELECT count(*) AS of_large FROM asked WHERE (SELECT filter FROM kept WHERE id = 11) @> key;
SELECT count(*) AS of_all FROM asked, kept WHERE filter @> key AND id IN (4, 5, 11);
COMMIT;
BEGIN;
DECLARE behind CURSOR WITH HOLD FOR SELECT id, filter @> (1000 * id + 5) AS found, filter FROM kept WHERE id BETWEEN 4 AND 9
  ORDER BY id;
SAVEPOINT before;
SELECT said('SELECT 1 / 0') AS answer;
ROLLBACK TO before;
COMMIT;
UPDATE kept SET filter = of(99) WHERE id = 9;
CREATE FUNCTION behind() RETURNS TABLE (id bigint, found boolean, same boolean) LANGUAGE plpgsql AS $$
DECLARE
  opened CONSTANT refcursor = 'behind';
  one record;
BEGIN
  LOOP
    FETCH opened INTO one;
    EXIT WHEN NOT FOUND;
    RETURN QUERY SELECT one.id, one.found, is(one.filter, one.id);
  END LOOP;
END
$$;
SELECT count(*) AS fetched, bool_and(found) AS found, bool_and(same) AS same FROM behind();
CLOSE behind;
UPDATE kept SET filter = of(9) WHERE id = 9;
CREATE FUNCTION looked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT is(old.filter, old.id) OR NOT new.filter @> (1000 * new.id + 5) OR NOT new.filter @> 99 THEN
    RAISE EXCEPTION 'the trigger sees another filter';
  END IF;
  RETURN new;
END
$$;
CREATE TRIGGER looked BEFORE UPDATE ON kept FOR EACH ROW EXECUTE FUNCTION looked();
UPDATE kept SET filter = petal_merge(filter, (SELECT petal_agg(99, 5000, 0.0001))) WHERE id BETWEEN 4 AND 9;
DROP TRIGGER looked ON kept;
SELECT count(*) FILTER (WHERE filter @> 99) AS merged FROM kept WHERE id BETWEEN 4 AND 9;
UPDATE kept SET filter = of(id) WHERE id BETWEEN 4 AND 9;
CREATE MATERIALIZED VIEW of_all AS SELECT petal_merge_agg(filter) AS filter FROM kept WHERE id BETWEEN 4 AND 9;
REFRESH MATERIALIZED VIEW of_all;
SELECT count(*) AS of_view FROM of_all, asked WHERE filter @> key;
DROP MATERIALIZED VIEW of_all;

\echo Domains whose check asks a filter, and then another one:
SELECT of(7, 100) AS seven, of(8, 100) AS eight \gset
CREATE DOMAIN known AS bigint CHECK (:'seven'::petal @> VALUE);
CREATE FUNCTION refusals() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  value known;
  refused integer = 0;
BEGIN
  FOR key IN 6990..8019 LOOP
    BEGIN
      value = key;
    EXCEPTION WHEN check_violation THEN refused = refused + 1;
    END;
  END LOOP;
  RETURN refused;
END
$$;
SELECT refusals() AS of_seven;
ALTER DOMAIN known DROP CONSTRAINT known_check;
ALTER DOMAIN known ADD CHECK (:'eight'::petal @> VALUE);
SELECT refusals() AS of_eight;


\echo Values have no order and are not equal, so they are no keys of anything; their bytes are:
SELECT left(said(query), 5) AS refused FROM unnest(ARRAY['SELECT a.filter = b.filter FROM kept a, kept b',
  'SELECT DISTINCT filter FROM kept', 'SELECT count(*) FROM kept GROUP BY filter',
    'SELECT filter FROM kept ORDER BY filter',
  'SELECT filter FROM kept UNION SELECT filter FROM kept', 'CREATE INDEX ON kept (filter)']) query;
SELECT count(*) AS joined FROM kept a JOIN kept b ON a.filter::bytea = b.filter::bytea;
SELECT count(*) AS groups FROM (SELECT filter::bytea FROM kept GROUP BY 1) grouped;

DROP TABLE kept, asked, copies, images, stored, odds, guarded, split;
DROP TYPE odd;
DROP FUNCTION behind, looked, refusals, varied, loops, loops_over_table, note, is, of, said;
DROP DOMAIN known;
