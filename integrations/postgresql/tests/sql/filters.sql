-- Filters of every kind that petal_plan names: all keys are found, and others at the rate that the filter states.
\set ECHO errors
\pset format unaligned

-- A filter of the keys 1 to 2000, and of the texts of these numbers.
CREATE FUNCTION made(kind text, capacity bigint, of_text boolean) RETURNS petal LANGUAGE plpgsql AS $$
DECLARE
  made petal;
BEGIN
  IF of_text THEN
    SELECT petal_agg(key::text, capacity, 0.01, kind) INTO made FROM generate_series(1, 2000) key;
  ELSE
    SELECT petal_agg(key::bigint, capacity, 0.01, kind) INTO made FROM generate_series(1, 2000) key;
  END IF;
  RETURN made;
END
$$;

-- How many of the keys from `first` to `last` are found.
CREATE FUNCTION found(filter petal, first bigint, last bigint, of_text boolean) RETURNS bigint LANGUAGE sql AS $$
  SELECT count(*) FROM generate_series(first, last) key
  WHERE CASE WHEN of_text THEN petal_contains(filter, key::text) ELSE filter @> key END
$$;

-- Whether `hits` of 20000 keys are a sample of this rate, within 4.5 sigma.
CREATE FUNCTION fits(hits bigint, rate double precision) RETURNS boolean LANGUAGE sql AS $$
  SELECT abs(hits - 20000 * rate) <= 4.5 * sqrt(20000 * rate * (1 - rate)) + 1
$$;

CREATE TABLE checked AS
  SELECT planned->>'kind' AS kind, capacity, of_text, made(planned->>'kind', capacity, of_text) AS filter
  FROM jsonb_array_elements(petal_plan(2000)) planned, (VALUES (NULL::bigint), (2000)) wanted(capacity),
       (VALUES (false), (true)) key(of_text);

\echo Kinds, each with and without a capacity, of numbers and of text:
SELECT count(DISTINCT kind) >= 20 AS many_kinds, bool_and(kind IN (SELECT kind FROM checked
  WHERE petal_info(filter)->>'kind' = kind)) AS as_asked, count(*) = 4 * count(DISTINCT kind) AS all_made
    FROM checked;

\echo Keys that are not found, which would be an error:
SELECT kind, capacity, of_text FROM checked WHERE found(filter, 1, 2000, of_text) <> 2000;

\echo Rates that are not what petal_info states:
SELECT kind, capacity, of_text, hits, rate
FROM (SELECT *, found(filter, 1000001, 1020000, of_text) AS hits,
             (petal_info(filter)->'statistics'->>'false_positive_rate')::double precision AS rate
      FROM checked) sampled
WHERE NOT fits(hits, rate);

\echo Rates that are not the wanted 1 % or less:
SELECT kind, capacity, of_text, petal_info(filter)->'statistics'->>'false_positive_rate' AS rate FROM checked
WHERE (petal_info(filter)->'statistics'->>'false_positive_rate')::double precision > 0.0115;

\echo Capacities and insertions:
SELECT kind, capacity, petal_info(filter)->>'capacity' AS is, petal_info(filter)->>'insertions' AS insertions
  FROM checked
WHERE petal_info(filter)->>'insertions' <> '2000' OR (petal_info(filter)->>'capacity')::bigint < 2000;

\echo Estimates of 2000 keys, for kinds that estimate:
SELECT kind, capacity, estimate FROM (
  SELECT kind, capacity, petal_estimate(filter) AS estimate FROM checked
  WHERE petal_info(filter)->'statistics'->'count_estimate' <> 'null') estimated
WHERE abs(estimate - 2000) > 100;

\echo Rates from 0.5 down, of the default kind:
SELECT rate, found(filter, 1, 2000, false) AS found,
  fits(found(filter, 1000001, 1020000, false), (petal_info(filter)->'statistics'->>'false_positive_rate')::float8)
    AS fits
FROM (VALUES (0.5), (0.1), (0.001), (0.00001)) wanted(rate),
  LATERAL (SELECT petal_agg(key, 2000, rate) AS filter FROM generate_series(1, 2000) key) made;

\echo Duplicates count as insertions and take no room:
SELECT petal_info(filter)->>'capacity' AS capacity, found(filter, 1, 500, false) AS found
FROM (SELECT petal_agg(key % 500 + 1) AS filter FROM generate_series(1, 5000) key) made;

\echo Counts:
SELECT key, petal_count(filter, key) AS number, petal_count(texts, 'key ' || key) AS of_text
FROM (SELECT petal_agg(least(key, 3), 100, 0.0001, 'counting') AS filter,
             petal_agg('key ' || least(key, 3), 100, 0.0001, 'counting') AS texts FROM generate_series(1,
               10) key) made,
     generate_series(1, 4) key;

\echo Unions:
WITH parts AS (SELECT key % 3 AS part, petal_agg(key, 2000) AS filter FROM generate_series(1, 2000) key GROUP BY 1)
SELECT found(petal_merge_agg(filter), 1, 2000, false) AS all_found,
       petal_bytes(petal_merge_agg(filter)) = petal_bytes(petal_merge(petal_merge(
         (SELECT filter FROM parts WHERE part = 0), (SELECT filter FROM parts WHERE part = 1)),
         (SELECT filter FROM parts WHERE part = 2))) AS same,
       petal_bytes(petal_merge_agg(filter)) = petal_bytes((SELECT petal_agg(key, 2000) FROM generate_series(1,
         2000) key))
         AS same_as_one
FROM parts;

DROP TABLE checked;
DROP FUNCTION made, found, fits;
