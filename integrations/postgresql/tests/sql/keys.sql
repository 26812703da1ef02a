-- Which keys are the same key, and which types make none.
\set ECHO errors
\pset format unaligned
\pset null NULL

CREATE FUNCTION said(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
  hint text;
BEGIN
  EXECUTE query INTO answer;
  RETURN coalesce(answer, 'NULL');
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ' ' || SQLERRM || CASE WHEN hint <> '' AND SQLSTATE <> '42883' THEN ' HINT: ' || hint ELSE ''
    END;
END
$$;
CREATE DOMAIN number_domain AS bigint CHECK (VALUE < 1000000);
CREATE DOMAIN domain_of_domain AS number_domain;
CREATE DOMAIN text_domain AS text;
CREATE DOMAIN varchar_domain AS varchar(20);
CREATE DOMAIN real_domain AS real;
CREATE DOMAIN char_domain AS char(4);
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE TYPE pair AS (a integer, b integer);
SET TimeZone = 'UTC';

-- The filter of one key, and the map of this key to 7.
CREATE TABLE written (same_key integer, key text);
INSERT INTO written VALUES (1, '5::smallint'), (1, '5'), (1, '5::bigint'), (1, '5::number_domain'),
  (1, '5::domain_of_domain'), (1, 'petal_twos_complement(5)'), (1, '''\x0500000000000000''::bytea'),
  (2, '''key'''), (2, '''key''::text'), (2, '''key''::varchar'), (2, '''key''::varchar(10)'), (2, '''key''::name'),
  (2, '''key''::text_domain'), (2, '''key''::varchar_domain'), (2, '''key''::char(8)::text'),
  (2, '''key'' COLLATE "C"'), (2, 'convert_to(''key'', ''UTF8'')'), (2, '''\x6b6579''::bytea'),
  (3, '''00112233-4455-6677-8899-aabbccddeeff''::uuid'), (3, '''\x00112233445566778899aabbccddeeff''::bytea');
CREATE FUNCTION filter_of(key text) RETURNS text LANGUAGE sql AS $$
  SELECT said(format('SELECT petal_bytes(petal_agg(%s, 10, 1e-9))', key))
$$;

\echo Keys that are written in other ways are the same key in all functions:
SELECT same_key, count(*), count(DISTINCT filter_of(key)) AS filters,
  count(DISTINCT said(format('SELECT petal_bytes(petal_build_map(%s, 7))', key))) AS maps
FROM written GROUP BY 1 ORDER BY 1;
SELECT a.same_key AS of_filter, b.same_key AS asked, count(*),
  bool_and(said(format('SELECT petal_contains(%L::petal, %s)', filter_of(a.key), b.key)) = same::text) AS contains,
  bool_and(said(format('SELECT %L::petal @> %s', filter_of(a.key), b.key)) = same::text) AS operator,
  bool_and(said(format('SELECT petal_get(petal_build_map(%s, 7, 1e-9), %s) FROM generate_series(1, 2)', a.key,
    b.key)) =
           CASE WHEN same THEN '7' ELSE 'NULL' END) AS get,
  bool_and(said(format('SELECT petal_count(petal_agg(%s, 10, 1e-9, ''counting''), %s) FROM generate_series(1, 2)',
                       a.key, b.key)) = CASE WHEN same THEN '2' ELSE '0' END) AS count
FROM written a, written b, LATERAL (SELECT a.same_key = b.same_key) compared(same) GROUP BY 1, 2 ORDER BY 1, 2;

\echo The number 5 is not the text 5, and the empty key is a key:
SELECT petal_contains(petal_agg(5, 10, 1e-9), '5') AS text, petal_contains(petal_agg('5', 10, 1e-9), 5) AS number,
  petal_contains(petal_agg('', 10, 1e-9), '') AS empty, petal_contains(petal_agg('', 10, 1e-9), '\x'::bytea)
    AS no_bytes,
  petal_contains(petal_agg('', 10, 1e-9), 0) AS zero;

\echo Blanks, cases and letters with several forms are what their bytes are:
SELECT petal_contains(petal_agg('key', 10, 1e-9), 'key ') AS blank, petal_contains(petal_agg('key', 10, 1e-9), 'Key')
  AS case,
  petal_contains(petal_agg(U&'\00E9', 10, 1e-9), U&'e\0301') AS composed,
  petal_contains(petal_agg(U&'\00E9', 10, 1e-9), '\xc3a9'::bytea) AS utf8;

\echo Long keys, also from a table, compressed and not:
CREATE TABLE long (id integer, key text, bytes bytea, plain text);
ALTER TABLE long ALTER COLUMN plain SET STORAGE EXTERNAL;
INSERT INTO long SELECT id, repeat(id::text, 10000), convert_to(repeat(id::text, 10000), 'UTF8'), repeat(id::text,
  10000)
  FROM generate_series(100, 120) id;
SELECT bool_and(petal_contains(texts, key) AND petal_contains(texts, bytes) AND petal_contains(texts, plain) AND
                petal_contains(texts, repeat(id::text, 10000))) AS found,
  bool_or(petal_contains(texts, key || ' ')) AS others, bool_and(same) AS same
FROM long, (SELECT petal_agg(key, 100, 1e-9) AS texts,
              petal_bytes(petal_agg(key, 100, 1e-9)) = petal_bytes(petal_agg(bytes, 100, 1e-9)) AND
              petal_bytes(petal_agg(key, 100, 1e-9)) = petal_bytes(petal_agg(plain, 100, 1e-9)) AS same
                FROM long) made;

\echo Types that make no keys, in petal_agg:
CREATE TABLE refused (place serial, key text);
INSERT INTO refused (key) VALUES ('1.5::real'), ('1.5::double precision'), ('1.5'), ('5::numeric'), ('now()'),
  ('now()::timestamp'), ('current_date'), ('''1:00''::time'), ('''1:00''::timetz'), ('interval ''1 day'''),
  ('''red''::colour'), ('''a''::char(4)'), ('''a''::character(1)'), ('true'), ('''1.2.3.4''::inet'),
  ('''1.2.3.0/24''::cidr'), ('5::oid'), ('''pg_class''::regclass'), ('ARRAY[1, 2]'), ('ARRAY[''a'']'),
    ('''{}''::jsonb'),
  ('''{}''::json'), ('row(1, 2)'), ('row(1, 2)::pair'), ('5::money'), ('B''101'''), ('point(1, 2)'),
    ('int4range(1, 2)'),
  ('''a''::tsvector'), ('5::real_domain'), ('''a''::char_domain'), ('petal_agg_none()'), ('-1'), ('-1::smallint'),
  ('-9223372036854775808'), ('-5::number_domain');
SELECT place, said(format('SELECT petal_agg(%s)', key)) AS answer FROM refused
  WHERE key <> 'petal_agg_none()' ORDER BY place;

\echo The other functions refuse the same, with their own names:
SELECT key, function, said(format(query, key)) AS answer
FROM refused, (VALUES
  ('petal_agg', 'SELECT petal_agg(%s)'), ('petal_agg', 'SELECT petal_agg(%s, 10)'), ('petal_agg',
    'SELECT petal_agg(%s, 10, 0.1)'),
  ('petal_agg', 'SELECT petal_agg(%s, 10, 0.1, ''bloom'')'), ('petal_build_map', 'SELECT petal_build_map(%s, 1)'),
  ('petal_build_map', 'SELECT petal_build_map(%s, 1, 0.1)'), ('petal_build_map',
    'SELECT petal_build_map(%s, 1, 0.1, ''bloomier'')'),
  ('petal_contains', 'SELECT petal_contains((SELECT petal_agg(1)), %s)'), ('petal_contains',
    'SELECT (SELECT petal_agg(1)) @> %s'),
  ('petal_count', 'SELECT petal_count((SELECT petal_agg(1, 1, 0.1, ''counting'')), %s)'),
  ('petal_get', 'SELECT petal_get((SELECT petal_build_map(1, 1)), %s)')) asked(function, query)
WHERE key <> 'petal_agg_none()' AND said(format(query, key)) <>
  regexp_replace(said(format('SELECT petal_agg(%s)', key)), '^(\S+) petal_agg', '\1 ' || function);

\echo Columns as constants:
CREATE TABLE columns (r real, d double precision, n numeric, t timestamptz, e colour, c char(4), b boolean, i inet,
  small smallint, big bigint, v varchar(9), na name, u uuid, nd number_domain, td text_domain, vd varchar_domain);
INSERT INTO columns VALUES (1, 1, 1, now(), 'red', 'a', true, '1.1.1.1', 5, 5, 'key', 'key',
  '00112233-4455-6677-8899-aabbccddeeff', 5, 'key', 'key');
SELECT name, said(format('SELECT petal_contains(petal_agg(%s, 10, 1e-9), min(%s)) FROM columns', name, key)) AS answer
FROM (VALUES ('r', '5'), ('d', '5'), ('n', '5'), ('t', '5'), ('e', '5'), ('c', '''a'''), ('b', '5'), ('i', '5'),
             ('small', '5'), ('big', '5'), ('v', '''key'''), ('na', '''key'''), ('nd', '5'), ('td', '''key'''),
             ('vd', '''key''')) column_of(name, key);
SELECT said('SELECT count(*) FROM columns WHERE petal_agg_filter @> c') LIKE '42703%' AS no_column,
  said('SELECT filter @> c FROM columns, (SELECT petal_agg(5) AS filter) made') AS operator,
  said('SELECT count(*) FROM columns, (SELECT petal_agg(v) AS filter FROM columns) made WHERE filter @> v') AS found;

\echo A key that is NULL:
SELECT petal_contains(filter, NULL) AS literal, petal_contains(filter, NULL::bigint) AS number, filter @> NULL::text
  AS text,
  petal_contains(NULL, 5) AS no_filter
FROM (SELECT petal_agg(5) AS filter) made;

\echo Complements of two:
SELECT number, petal_twos_complement(number) AS key,
  petal_agg(petal_twos_complement(number), 10, 1e-9) @> petal_twos_complement(number) AS found
FROM (VALUES (0::bigint), (1), (-1), (-9223372036854775808), (9223372036854775807)) numbers(number)
GROUP BY number ORDER BY number;

\echo Parameters of prepared statements, and functions of any element:
PREPARE ask(bigint) AS SELECT petal_contains((SELECT petal_agg(key::bigint) FROM generate_series(1, 9) key), $1);
EXECUTE ask(5);
EXECUTE ask(-5);
PREPARE ask_text(varchar) AS SELECT petal_contains((SELECT petal_agg(key::text) FROM generate_series(1, 9) key), $1);
EXECUTE ask_text('5');
-- A parameter without a type is text.
PREPARE ask_untyped AS SELECT petal_contains((SELECT petal_agg(key::text, 9, 1e-9) FROM generate_series(1, 9) key), $1)
  AS text, petal_contains((SELECT petal_agg(key::bigint, 9, 1e-9) FROM generate_series(1, 9) key), $1) AS of_numbers;
EXECUTE ask_untyped(5);
PREPARE ask_typed AS SELECT (SELECT petal_agg(key::bigint) FROM generate_series(1, 9) key) @> $1::bigint AS number;
EXECUTE ask_typed('5');
SET plan_cache_mode = force_generic_plan;
EXECUTE ask(5);
EXECUTE ask_text('5');
RESET plan_cache_mode;
CREATE FUNCTION asked(filter petal, key anyelement) RETURNS boolean LANGUAGE sql
  AS 'SELECT petal_contains(filter, key)';
CREATE FUNCTION asked_too(filter petal, key anyelement) RETURNS boolean LANGUAGE plpgsql
  AS 'BEGIN RETURN filter @> key; END';
SELECT asked(filter, 5) AS integer, asked(filter, 5::bigint) AS bigint, asked(texts, 'key'::name) AS name,
  asked(texts, 'key'::varchar) AS varchar, asked_too(filter, 5::smallint) AS smallint, asked_too(texts, 'key'::name)
    AS name_too,
  asked_too(texts, 'key'::text_domain) AS domain
FROM (SELECT petal_agg(5, 10, 1e-9) AS filter, petal_agg('key', 10, 1e-9) AS texts) made;
SELECT said('SELECT asked((SELECT petal_agg(5)), 5.5)') AS sql, said('SELECT asked_too((SELECT petal_agg(5)), 5.5)')
  AS plpgsql;

\echo Functions of aggregates are not called alone:
SELECT left(said(query), 5) IN ('42883', '42846', '0A000') AS refused
  FROM unnest(ARRAY['SELECT petal_agg_transition(NULL::internal, 5)', 'SELECT petal_agg_final(NULL)',
  'SELECT petal_agg_serialize(NULL)', 'SELECT petal_agg_deserialize(''\x00'', NULL)',
    'SELECT petal_agg_combine(NULL, NULL)',
  'SELECT petal_map_final(NULL)', 'SELECT petal_map_combine(NULL, NULL)',
    'SELECT petal_map_deserialize(''\x00'', NULL)',
  'SELECT petal_merge_final(NULL)', 'SELECT petal_merge_combine(NULL, NULL)',
  'SELECT petal_merge_deserialize(''\x00'', NULL)']) query;

DROP TABLE written, long, refused, columns;
DROP FUNCTION filter_of, asked, asked_too, said;
DROP DOMAIN domain_of_domain, number_domain, text_domain, varchar_domain, real_domain, char_domain;
DROP TYPE colour, pair;
DEALLOCATE ALL;
