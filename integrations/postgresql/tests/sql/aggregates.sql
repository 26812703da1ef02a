-- The aggregates in all places where SQL has aggregates, and in parallel plans.
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
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  plan text = '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    plan = plan || line;
  END LOOP;
  RETURN plan;
END
$$;
CREATE TABLE numbers AS SELECT key, key % 7 AS part, 'key ' || key AS name, 3 * key AS value
  FROM generate_series(1::bigint, 20000) key;
ANALYZE numbers;

\echo No rows, and rows without keys:
SELECT said(format('SELECT %s FROM numbers WHERE %s', made, which)) AS answer, count(*)
FROM unnest(ARRAY['petal_agg(key)', 'petal_agg(key, 10)', 'petal_agg(key, 10, 0.1)',
  'petal_agg(key, NULL, NULL, ''fuse'')',
  'petal_agg(name)', 'petal_agg(NULL)', 'petal_agg(NULL::text, 10)', 'petal_build_map(key, value)',
    'petal_merge_agg(NULL)',
  'petal_agg(key) FILTER (WHERE false)', 'petal_agg(nullif(key, key))']) made,
  unnest(ARRAY['false', 'key < 100']) which
WHERE which = 'false' OR made ~ 'NULL\)|NULL::|false|nullif' GROUP BY 1;
SELECT said('SELECT count(*) FROM (SELECT petal_agg(key) FROM numbers WHERE false GROUP BY part) none');

\echo Where the image depends on nothing but the keys:
CREATE FUNCTION image(made text, rest text = '') RETURNS text LANGUAGE sql AS $$
  SELECT left(said(format('SELECT md5(petal_bytes(%s)) FROM numbers %s', made, rest)), 100)
$$;
SELECT image('petal_agg(key)') = image('petal_agg(key)', 'WHERE key = key') AS twice,
  image('petal_agg(key ORDER BY key DESC)') = image('petal_agg(key)') AS ordered,
  image('petal_agg(DISTINCT key)') = image('petal_agg(key)') AS is_distinct,
  image('petal_agg(key ORDER BY name DESC, value)') = image('petal_agg(key)') AS ordered_by_others,
  image('petal_agg(key) FILTER (WHERE key < 500)') = image('petal_agg(key)', 'WHERE key < 500') AS filtered,
  image('petal_agg(key::integer)') = image('petal_agg(key)') AS integers,
  image('petal_agg(key)') <> image('petal_agg(name)') AS others,
  image('petal_agg(key, NULL)') = image('petal_agg(key)') AS no_capacity,
  image('petal_agg(key, 0, NULL, NULL)') = image('petal_agg(key)') AS capacity_of_0,
  image('petal_agg(key, NULL, 0.01, ''blocked'')') = image('petal_agg(key)') AS defaults,
  image('petal_agg(key, 20000)') = image('petal_agg(key)') AS capacity_that_fits,
  image('petal_agg(key, 20000, 0.001)') <> image('petal_agg(key, 20000)') AS rate,
  image('petal_build_map(key, value)') = image('petal_build_map(key, value ORDER BY name DESC)') AS map,
  image('petal_build_map(name, value::integer, 0.01, ''bloomier'')') = image('petal_build_map(name, value)')
    AS map_defaults;

\echo Groups:
SELECT count(*) AS groups, bool_and(petal_contains(filter, first) AND petal_contains(filter, last)) AS found,
  sum((petal_info(filter)->>'insertions')::bigint) AS insertions
FROM (SELECT petal_agg(key) AS filter, min(key) AS first, max(key) AS last FROM generate_series(1, 20000) key
  GROUP BY key / 2) made;
SET enable_hashagg = off;
SELECT count(*) AS groups, bool_and(petal_contains(filter, first) AND petal_contains(filter, last)) AS found
FROM (SELECT petal_agg(key, 10) AS filter, min(key) AS first, max(key) AS last FROM generate_series(1, 20000) key
  GROUP BY key / 2) made;
RESET enable_hashagg;
SELECT part, petal_info(petal_agg(key))->>'insertions' AS keys, petal_info(petal_build_map(key,
  value))->>'insertions' AS entries,
  petal_agg(key) FILTER (WHERE part = 3) IS NULL AS without
FROM numbers GROUP BY GROUPING SETS ((part), ()) ORDER BY part;
SELECT count(*) AS sets, count(DISTINCT md5(petal_bytes(filter))) AS filters
FROM (SELECT petal_agg(key) AS filter FROM numbers WHERE key <= 100 GROUP BY CUBE (part, key % 2)) made;
SELECT count(*) FROM (SELECT part, petal_agg(key) AS filter FROM numbers
  GROUP BY part HAVING petal_agg(key) @> 5) with_5;

\echo A hash table of groups that is read several times, with a filter that changes each time:
CREATE FUNCTION read_again(made text) RETURNS TABLE (hashed boolean, same boolean) LANGUAGE plpgsql AS $$
DECLARE
  query text = format('SELECT least, (SELECT md5(string_agg(made::bytea, '''' ORDER BY made::bytea)) FROM (SELECT %s AS made
    FROM ones GROUP BY part HAVING count(*) > least) grouped) AS sum FROM generate_series(1, 3) least', made);
BEGIN
  SET LOCAL max_parallel_workers_per_gather = 0;
  SET LOCAL enable_sort = off;
  hashed = plan_of(query) ~ 'HashAggregate.*Filter: .count';
  EXECUTE format('SELECT count(DISTINCT sum) = 1 AND count(sum) = 3 FROM (%s) read', query) INTO same;
  RETURN NEXT;
END
$$;
CREATE VIEW ones AS SELECT *, (SELECT petal_agg(5, 100)) AS one FROM numbers;
SELECT made, (read_again(made)).* FROM unnest(ARRAY['petal_agg(key)', 'petal_agg(key, 5000)', 'petal_agg(name)',
  'petal_agg(key, NULL, NULL, ''fuse'')', 'petal_build_map(key, value)', 'petal_merge_agg(one)']) made;

\echo Windows: a filter ends with its final function, and a union does not.
SELECT said('SELECT petal_agg(key) OVER () FROM numbers') AS agg,
  said('SELECT petal_build_map(key, value) OVER () FROM numbers') AS map;
SELECT bool_and((petal_info(filter)->>'insertions')::bigint = 2000 * place) AS running, count(*) AS rows
FROM (SELECT place, petal_merge_agg(part) OVER (ORDER BY place) AS filter
      FROM (SELECT (key - 1) / 2000 + 1 AS place, petal_agg(key, 20000) AS part FROM numbers
        GROUP BY 1) parts) unions;
SELECT bool_and((petal_estimate(filter) BETWEEN 3600 AND 4400) = (place > 1)) AS moving
FROM (SELECT place, petal_merge_agg(part) OVER (ORDER BY place ROWS 1 PRECEDING) AS filter
      FROM (SELECT (key - 1) / 2000 + 1 AS place, petal_agg(key, 20000) AS part FROM numbers
        GROUP BY 1) parts) unions;

\echo Arguments that change, of which each row has its say:
SELECT said(format('SELECT petal_agg(key, %s) FROM numbers', arguments)) AS answer
FROM unnest(ARRAY['key', 'CASE WHEN key < 9 THEN 10 END', 'CASE WHEN key > 9 THEN 10 END',
  'CASE WHEN key < 9 THEN 10 ELSE -1 END',
  '10, key / 40000.0', '10, 0.01 + key * 1e-12', '10, CASE WHEN key < 9 THEN 0.5 END', '10, CASE WHEN key > 9 THEN 0.5 END',
  '10, CASE WHEN key > 9 THEN ''NaN'' ELSE 0.5 END', '10, 0.5, CASE WHEN key < 9 THEN ''bloom'' END',
  '10, 0.5, CASE WHEN key > 9 THEN ''bloom'' END', '10, 0.5, CASE WHEN key > 9 THEN ''bloom'' ELSE ''blocked'' END',
  '10, 0.5, CASE WHEN key > 9 THEN repeat(''x'', 100) ELSE ''blocked'' END',
  '10, 0.1, CASE WHEN key > 9 THEN ''bloo'' ELSE ''bloom'' END']) arguments;
SELECT said('SELECT petal_info(petal_agg(CASE WHEN key > 3 THEN key END, CASE WHEN key > 3 THEN 100 ELSE 5 END))->''capacity'' FROM numbers')
  AS of_rows_with_keys;
SELECT said('SELECT count(petal_agg) FROM (SELECT petal_agg(key, part + 1) FROM numbers GROUP BY part) made')
  AS other_in_each_group;

\echo Arguments that are wrong:
SELECT said(format('SELECT petal_agg(key, %s) FROM numbers', arguments)) AS answer
FROM unnest(ARRAY['-1', '-9223372036854775808', '10, 0', '10, 1', '10, 1.000000000001', '10, -0.1', '10, 2', '10, ''NaN''',
  '10, ''Infinity''', '10, 1e-300',
  '10, 0.01, ''''', '10, 0.01, ''Bloom''', '10, 0.01, ''bloom ''', '10, 0.01, ''bloomier''', '10, 0.01, ''iblt''',
  '10, 0.01, repeat(''x'', 31)', '10, 0.01, repeat(''x'', 1000)', '100000000000, 0.01',
    '9223372036854775807, 0.5']) arguments;

\echo A capacity that was too small: more false positives, or a refusal.
SELECT said(format('SELECT petal_info(petal_agg(key, 10, 0.01, %L))->>''insertions'' FROM numbers WHERE key <= 1000',
  kind)) AS answer
FROM unnest(ARRAY['bloom', 'cuckoo', 'quotient', 'fuse', 'scalable', 'hash_compaction']) kind;

\echo Unions:
CREATE TABLE parts AS SELECT part, petal_agg(key, 20000) AS filter, petal_agg(key) AS small FROM numbers
  GROUP BY part;
SELECT md5(petal_bytes(petal_merge_agg(filter))) = image('petal_agg(key, 20000)') AS union,
  petal_merge_agg(filter) FILTER (WHERE part > 9) IS NULL AS none,
  md5(petal_bytes(petal_merge_agg(CASE WHEN part <> 3 THEN filter END))) = image('petal_agg(key, 20000)',
    'WHERE part <> 3') AS nulls
FROM parts;
SELECT said(query) FROM unnest(ARRAY[
  'SELECT petal_merge_agg(CASE WHEN part = 3 THEN small ELSE filter END ORDER BY part) FROM parts',
  'SELECT petal_merge((SELECT petal_agg(1, 10, 0.1)), (SELECT petal_agg(1, 10, 0.1, ''bloom'')))',
  'SELECT petal_merge((SELECT petal_agg(1, 10)), (SELECT petal_agg(1, 5000)))',
  'SELECT petal_merge((SELECT petal_agg(1, 10, 0.1, ''fuse'')), (SELECT petal_agg(1, 10, 0.1, ''fuse'')))',
  'SELECT petal_merge_agg(filter) FROM (SELECT petal_agg(key, 10, 0.1, ''fuse'') AS filter FROM numbers GROUP BY part) made']) query;

\echo Parallel plans give the same bytes:
CREATE FUNCTION in_parallel(made text, source text = 'numbers') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  query text = format('SELECT md5(petal_bytes(%s)) FROM %s', made, source);
  serial text;
BEGIN
  SET LOCAL max_parallel_workers_per_gather = 0;
  serial = said(query);
  SET LOCAL max_parallel_workers_per_gather = 3;
  SET LOCAL parallel_setup_cost = 0;
  SET LOCAL parallel_tuple_cost = 0;
  SET LOCAL min_parallel_table_scan_size = 0;
  RETURN CASE WHEN plan_of(query) ~ 'Finalize.*Partial' THEN '' ELSE 'not in parallel, ' END ||
    CASE WHEN said(query) = serial THEN CASE WHEN length(serial) = 32 THEN 'same' ELSE serial END
         ELSE serial || ' and then ' || said(query) END;
END
$$;
CREATE TABLE wide AS SELECT key, repeat('x', 500) AS filler FROM numbers;
ALTER TABLE wide SET (parallel_workers = 3);
ALTER TABLE numbers SET (parallel_workers = 3);
ALTER TABLE parts SET (parallel_workers = 2);
SELECT made, in_parallel(made) AS answer FROM unnest(ARRAY['petal_agg(key)', 'petal_agg(key, 20000)',
  'petal_agg(name)',
  'petal_agg(name, 20000)', 'petal_agg(key, 20000, 0.001)', 'petal_agg(key, NULL, 0.001, ''bloom'')',
  'petal_agg(key, 20000, 0.01, ''fuse'')', 'petal_agg(key, 0, 0.01, ''fuse'')',
    'petal_agg(name, NULL, 0.01, ''ribbon'')',
  'petal_agg(key, 20000, 0.01, ''counting'')', 'petal_agg(key, 20000, 0.01, ''golomb'')',
  'petal_build_map(key, value)', 'petal_build_map(name, value, 0.001)',
    'petal_build_map(key, value, NULL, ''retrieval'')',
  'petal_agg(CASE WHEN part = 1 THEN key END)', 'petal_agg(nullif(part, part))',
    'petal_agg(key) FILTER (WHERE part > 3)',
  'petal_agg(CASE WHEN key = 20000 THEN -1 ELSE key END)', 'petal_agg(key, -1)', 'petal_agg(key, 10, 2)',
    'petal_build_map(1, part)']) made
WHERE made !~ 'key, part' AND made <> 'petal_build_map(1, part)';
SELECT in_parallel('petal_merge_agg(filter)', 'parts') AS union, in_parallel('petal_agg(key, 20000)', 'wide')
  AS pages,
  in_parallel('petal_agg(key)', 'wide') AS pages_without;
SELECT regexp_replace(in_parallel('petal_build_map(1, value)'), 'values, .*', 'values') AS two_values;

\echo Arguments that change from worker to worker are refused as well, although each worker sees one only:
-- Two tables of one row for two workers, each of which waits in its row until the other one has its row.
CREATE TABLE pages (key bigint) PARTITION BY LIST (key);
CREATE TABLE pages_1 PARTITION OF pages FOR VALUES IN (1) WITH (parallel_workers = 2);
CREATE TABLE pages_2 PARTITION OF pages FOR VALUES IN (2) WITH (parallel_workers = 2);
INSERT INTO pages VALUES (1), (2);
CREATE FUNCTION worker() RETURNS integer LANGUAGE plpgsql PARALLEL SAFE COST 1000000 AS $$
BEGIN
  FOR turn IN 1..500 LOOP
    PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
    EXIT WHEN (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND wait_event = 'PgSleep'
               AND pid <> pg_backend_pid() AND datname = current_database()) > 0;
  END LOOP;
  PERFORM pg_sleep(0.5);
  RETURN pg_backend_pid();
END
$$;
CREATE FUNCTION of_workers(made text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL max_parallel_workers_per_gather = 2;
  SET LOCAL parallel_leader_participation = off;
  SET LOCAL parallel_setup_cost = 0;
  SET LOCAL parallel_tuple_cost = 0;
  SET LOCAL min_parallel_table_scan_size = 0;
  IF plan_of(format('SELECT %s FROM pages', made)) !~ 'Workers Planned: 2.*Parallel Append' THEN
    RETURN 'not in parallel';
  END IF;
  RETURN regexp_replace(said(format('SELECT %s FROM pages', made)),
    '\d+(\.\d+)?|\m(bloom|fuse|bloomier|retrieval)\M', '...', 'g');
END
$$;
SELECT made, of_workers(made) AS answer FROM unnest(ARRAY['petal_agg(key, 100 + worker())',
  'petal_agg(key, NULL, 0.1 + worker() / 1e8)',
  'petal_agg(key, 100, NULL, CASE WHEN worker() > 0 AND key = 2 THEN ''bloom'' ELSE ''fuse'' END)',
  'petal_build_map(key, 1, 0.1 + worker() / 1e8)',
  'petal_build_map(key, 1, NULL, CASE WHEN worker() > 0 AND key = 2 THEN ''bloomier'' ELSE ''retrieval'' END)']) made;

\echo Groups in parallel plans:
BEGIN;
SET LOCAL max_parallel_workers_per_gather = 3;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT plan_of('SELECT part, petal_agg(key) FROM numbers GROUP BY part') ~ 'Finalize.*Partial' AS parallel;
CREATE TEMPORARY TABLE grouped AS SELECT part, petal_agg(key) AS filter, petal_build_map(name, value) AS map,
  petal_agg(name, 5000) AS names
  FROM numbers GROUP BY part;
COMMIT;
SET max_parallel_workers_per_gather = 0;
SELECT bool_and(md5(petal_bytes(filter)) = image('petal_agg(key)', 'WHERE part = ' || part)) AS filters,
  bool_and(md5(petal_bytes(names)) = image('petal_agg(name, 5000)', 'WHERE part = ' || part)) AS names,
  bool_and(md5(petal_bytes(map)) = image('petal_build_map(name, value)', 'WHERE part = ' || part)) AS maps
FROM grouped;
RESET max_parallel_workers_per_gather;

DROP VIEW ones;
DROP TABLE numbers, wide, pages, parts, grouped;
DROP FUNCTION read_again, of_workers, worker, in_parallel, plan_of, image, said;
