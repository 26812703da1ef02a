-- petal_plan, petal_info, petal_version.
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

\echo The version is that of the extension:
SELECT petal_version() = extversion AS same FROM pg_extension WHERE extname = 'petal';

\echo A plan names the kinds that fit, each once, the smallest first:
SELECT count(*) >= 20 AS many, count(*) = count(DISTINCT kind) AS once, bool_and(bytes >= before) AS sorted,
  bool_and(rate <= 0.01 AND rate > 0) AS rates, bool_and(bits > 6 AND bits < 1000) AS bits, bool_and(lines > 0)
    AS lines,
  count(*) FILTER (WHERE is_built) AS built
FROM (SELECT planned->>'kind' AS kind, (planned->>'bytes')::bigint AS bytes,
             lag((planned->>'bytes')::bigint, 1, 0) OVER (ORDER BY place) AS before,
             (planned->>'false_positive_rate')::double precision AS rate,
             (planned->>'bits_per_key')::double precision AS bits,
             (planned->>'lines_per_lookup')::double precision AS lines, (planned->>'is_built')::boolean AS is_built
      FROM jsonb_array_elements(petal_plan(100000)) WITH ORDINALITY AS plan(planned, place)) plan;

\echo Which fields a kind has:
SELECT string_agg(field, ', ' ORDER BY field) FROM jsonb_object_keys(petal_plan(1000)->0) field;

\echo The bytes that a plan states are those of the filter:
SELECT planned->>'kind' AS kind, planned->>'bytes' AS planned, length(petal_bytes(filter)) AS is
FROM jsonb_array_elements(petal_plan(3000)) planned,
  LATERAL (SELECT petal_agg(key, 3000, 0.01, planned->>'kind') AS filter FROM generate_series(1, 3000) key) made
WHERE planned->>'kind' IN ('bloom', 'blocked', 'split_block', 'fuse', 'cuckoo')
  AND (planned->>'bytes')::bigint <> length(petal_bytes(filter));

\echo A kind is smaller where the rate is higher:
SELECT (petal_plan(100000, 0.1)->0->>'bytes')::bigint < (petal_plan(100000, 0.001)->0->>'bytes')::bigint AS smaller;

\echo Arguments:
SELECT said(format('SELECT jsonb_array_length(petal_plan(%s)) > 5', arguments)) AS answer
FROM unnest(ARRAY['0', '1', '-1', 'NULL', '1000, NULL', '1000, 0', '1000, 1', '1000, -0.1', '1000, ''NaN''',
  '1000, ''Infinity''', '1000, 1e-30', '9223372036854775807', '1000000000000',
    '1000, false_positive_rate => 0.3']) arguments;

\echo petal_info of filters and maps:
SELECT info - 'statistics' AS info, info->'statistics'->'saturated' AS saturated,
  (info->'statistics'->>'fill')::float8 BETWEEN 0.3 AND 1 AS fill
FROM (SELECT petal_info(petal_agg(key, 1000, 0.01, 'bloom')) AS info FROM generate_series(1, 1000) key UNION ALL
      SELECT petal_info(petal_agg(key, 1000, 0.01, 'counting')) FROM generate_series(1, 1000) key UNION ALL
      SELECT petal_info(petal_agg(key, 0, 0.01, 'fuse')) FROM generate_series(1, 1000) key UNION ALL
      SELECT petal_info(petal_build_map(key, key)) FROM generate_series(1, 1000) key) made;

\echo A filter that is too full has no estimate:
SELECT petal_estimate(filter) AS estimate, petal_info(filter)->'statistics'->'count_estimate' AS stated
FROM (SELECT petal_agg(key, 10, 0.5, 'bloom') AS filter FROM generate_series(1, 100000) key) made;

\echo NULL arguments give NULL:
SELECT petal_info(NULL) AS info, petal_estimate(NULL) AS estimate, petal_merge(NULL, NULL) AS merge,
  petal_bytes(NULL) AS bytes, petal(NULL) AS petal, petal_twos_complement(NULL) AS key;

DROP FUNCTION said;
