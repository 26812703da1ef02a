-- Maps of every kind: each key has its value, and other keys have none.
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

\echo Wrong values of 2000 keys, for each kind:
CREATE TABLE maps AS
  SELECT kind, petal_build_map(key, 7 * key, rate, kind) AS numbers, petal_build_map(key::text, 7 * key, rate, kind)
    AS texts
  FROM generate_series(1, 2000) key, 
    (VALUES ('bloomier', 0.01), ('retrieval', NULL), ('mutable_bloomier', 0.01)) wanted(kind, rate) GROUP BY kind;
SELECT kind, count(*) FILTER (WHERE petal_get(numbers, key) IS DISTINCT FROM 7 * key) AS numbers,
  count(*) FILTER (WHERE petal_get(texts, key::text) IS DISTINCT FROM 7 * key) AS texts
FROM maps, generate_series(1, 2000) key GROUP BY kind ORDER BY kind;

\echo Values of 20000 other keys are as many as petal_info states, within 4.5 sigma:
SELECT kind, abs(values - 20000 * rate) <= 4.5 * sqrt(20000 * rate * (1 - rate)) AS fits
FROM (SELECT kind, count(petal_get(numbers, key)) AS values,
             max((petal_info(numbers)->'statistics'->>'false_positive_rate')::double precision) AS rate
      FROM maps, generate_series(1000001, 1020000) key WHERE kind <> 'retrieval' GROUP BY kind) sampled ORDER BY kind;

\echo The default is a bloomier map of a rate of at most 1 %:
SELECT info->>'type' AS type, info->>'kind' AS kind, info->>'capacity' AS capacity,
  (info->>'false_positive_rate')::double precision <= 0.01 AS rate
FROM (SELECT petal_info(petal_build_map(key, key)) AS info FROM generate_series(1, 100) key) built;

\echo Values of every size, and of size 0:
SELECT said(format('SELECT petal_get(petal_build_map(key, %s), 5) FROM generate_series(1, 9) key', value)) AS value
FROM unnest(ARRAY[0, 1, 255, 256, 4294967296, 9223372036854775807]) value;

\echo Rows without a key or a value are left out, and a map without rows is NULL:
SELECT petal_get(map, 1) AS one, petal_get(map, 2) AS two, petal_get(map, 3) AS three, petal_info(map)->>'insertions'
  AS keys
FROM (SELECT petal_build_map(key, value, 0.000001) AS map
      FROM (VALUES (1, 10), (2, NULL), (NULL, 30), (3, 0), (NULL, NULL)) row(key, value)) built;
SELECT petal_build_map(key, NULL) IS NULL AS no_values, petal_build_map(NULL, key) IS NULL AS no_keys
FROM generate_series(1, 9) key;
SELECT petal_build_map(key, key) IS NULL AS no_rows FROM generate_series(1, 0) key;

\echo The same value twice is one entry; two values are refused:
SELECT petal_get(petal_build_map(1, 5), 1) AS twice FROM generate_series(1, 2);
SELECT said('SELECT petal_build_map(1, key) FROM generate_series(1, 2) key');
SELECT said('SELECT petal_build_map(''one'', key) FROM generate_series(1, 2) key');

\echo Arguments:
SELECT said(format('SELECT petal_build_map(key, %s) FROM generate_series(1, 9) key', arguments)) AS answer
FROM unnest(ARRAY['-1', '-9223372036854775808', '1, 0', '1, 1', '1, ''NaN''', '1, -0.5', '1, 1e-30',
  '1, 0.01, ''bloom''',
  '1, 0.01, ''none''', '1, 0.01, ''''', 'key, CASE WHEN key < 5 THEN 0.01 ELSE 0.02 END',
  'key, 0.01, CASE WHEN key < 5 THEN ''bloomier'' ELSE ''retrieval'' END',
  'key, CASE WHEN key < 5 THEN 0.01 END']) arguments;
SELECT petal_get(petal_build_map(key, key, NULL, NULL), 7) AS defaults FROM generate_series(1, 9) key;

\echo A map is no filter, and a filter is no map:
SELECT said(query) FROM unnest(ARRAY[
  'SELECT petal_contains(petal_build_map(key, key), 1) FROM generate_series(1, 9) key',
  'SELECT petal_count(petal_build_map(key, key), 1) FROM generate_series(1, 9) key',
  'SELECT petal_estimate(petal_build_map(key, key)) FROM generate_series(1, 9) key',
  'SELECT petal_merge(petal_build_map(key, key), petal_agg(key)) FROM generate_series(1, 9) key',
  'SELECT petal_merge(petal_agg(key), petal_build_map(key, key)) FROM generate_series(1, 9) key',
  'SELECT petal_merge_agg(map) FROM (SELECT petal_build_map(key, key) AS map FROM generate_series(1, 9) key) built',
  'SELECT petal_get(petal_agg(key), 1) FROM generate_series(1, 9) key']) query;

\echo NULL arguments give NULL:
SELECT petal_get(NULL, 1) AS no_map, petal_get(map, NULL) AS no_key, petal_get(map, NULL::bigint) AS no_number
FROM (SELECT petal_build_map(key, key) AS map FROM generate_series(1, 9) key) built;

DROP TABLE maps;
DROP FUNCTION said;
