-- Petal for PostgreSQL, version 0.1.0. docs/sql.md describes the functions.

\echo Use "CREATE EXTENSION petal" to load this file. \quit

-- The type: a value is the image of a filter or map.

CREATE TYPE petal;

CREATE FUNCTION petal_in(cstring) RETURNS petal
AS 'MODULE_PATHNAME', 'petal_sql_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION petal_out(petal) RETURNS cstring
AS 'MODULE_PATHNAME', 'petal_sql_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION petal_recv(internal) RETURNS petal
AS 'MODULE_PATHNAME', 'petal_sql_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION petal_send(petal) RETURNS bytea
AS 'MODULE_PATHNAME', 'petal_sql_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Opened in place, so aligned to 8; and as dense as bits get, so not compressed.
CREATE TYPE petal (
  INPUT = petal_in,
  OUTPUT = petal_out,
  RECEIVE = petal_recv,
  SEND = petal_send,
  ALIGNMENT = double,
  STORAGE = external
);
COMMENT ON TYPE petal IS 'a filter or map of Petal';

CREATE FUNCTION petal(bytea) RETURNS petal
AS 'MODULE_PATHNAME', 'petal_sql_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION petal_bytes(petal) RETURNS bytea
AS 'MODULE_PATHNAME', 'petal_sql_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (bytea AS petal) WITH FUNCTION petal(bytea) AS ASSIGNMENT;
CREATE CAST (petal AS bytea) WITH FUNCTION petal_bytes(petal) AS ASSIGNMENT;

CREATE FUNCTION petal_version() RETURNS text
AS 'MODULE_PATHNAME', 'petal_sql_version' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Keys. A literal is text. character(n) has functions of its own, which refuse it; otherwise it would turn into text.

CREATE FUNCTION petal_twos_complement(number bigint) RETURNS bytea
AS 'MODULE_PATHNAME', 'petal_sql_twos_complement' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Filters and maps.

CREATE FUNCTION petal_contains(filter petal, key anyelement) RETURNS boolean
AS 'MODULE_PATHNAME', 'petal_sql_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION petal_contains(filter petal, key text) RETURNS boolean
AS 'MODULE_PATHNAME', 'petal_sql_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION petal_contains(filter petal, key character) RETURNS boolean
AS 'MODULE_PATHNAME', 'petal_sql_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION petal_contains(petal, anyelement) IS 'whether the key may be in the filter; false is certain';

CREATE OPERATOR @> (LEFTARG = petal, RIGHTARG = anyelement, FUNCTION = petal_contains);
CREATE OPERATOR @> (LEFTARG = petal, RIGHTARG = text, FUNCTION = petal_contains);
CREATE OPERATOR @> (LEFTARG = petal, RIGHTARG = character, FUNCTION = petal_contains);

CREATE FUNCTION petal_count(filter petal, key anyelement) RETURNS bigint
AS 'MODULE_PATHNAME', 'petal_sql_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION petal_count(filter petal, key text) RETURNS bigint
AS 'MODULE_PATHNAME', 'petal_sql_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION petal_count(filter petal, key character) RETURNS bigint
AS 'MODULE_PATHNAME', 'petal_sql_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION petal_count(petal, anyelement) IS 'how often the key was inserted, for kinds that count';

CREATE FUNCTION petal_get(map petal, key anyelement) RETURNS bigint
AS 'MODULE_PATHNAME', 'petal_sql_get' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION petal_get(map petal, key text) RETURNS bigint
AS 'MODULE_PATHNAME', 'petal_sql_get' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION petal_get(map petal, key character) RETURNS bigint
AS 'MODULE_PATHNAME', 'petal_sql_get' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION petal_get(petal, anyelement) IS 'the value of the key in the map, or NULL';

CREATE FUNCTION petal_estimate(filter petal) RETURNS double precision
AS 'MODULE_PATHNAME', 'petal_sql_estimate' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION petal_estimate(petal) IS 'how many distinct keys the filter holds; NULL if it is too full to tell';

CREATE FUNCTION petal_merge(filter petal, other petal) RETURNS petal
AS 'MODULE_PATHNAME', 'petal_sql_merge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION petal_merge(petal, petal) IS 'the union of two filters';

CREATE FUNCTION petal_info(image petal) RETURNS jsonb
AS 'MODULE_PATHNAME', 'petal_sql_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION petal_info(petal) IS 'what a filter or map is, and how full';

CREATE FUNCTION petal_plan(keys bigint, false_positive_rate double precision DEFAULT 0.01) RETURNS jsonb
AS 'MODULE_PATHNAME', 'petal_sql_plan' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION petal_plan(bigint, double precision) IS 'the kinds of filter that fit, the smallest first';

-- Aggregates. The image or the builder behind a state is outside of PostgreSQL's memory, and goes with the query.

CREATE FUNCTION petal_agg_final(internal) RETURNS petal
AS 'MODULE_PATHNAME', 'petal_sql_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION petal_agg_combine(internal, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION petal_agg_serialize(internal) RETURNS bytea
AS 'MODULE_PATHNAME', 'petal_sql_agg_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION petal_agg_deserialize(bytea, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION petal_agg_transition(internal, anyelement) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_agg(key anyelement) (
  SFUNC = petal_agg_transition,
  STYPE = internal,
  FINALFUNC = petal_agg_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_agg_combine,
  SERIALFUNC = petal_agg_serialize,
  DESERIALFUNC = petal_agg_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_agg_transition(internal, anyelement, bigint) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_agg(key anyelement, capacity bigint) (
  SFUNC = petal_agg_transition,
  STYPE = internal,
  FINALFUNC = petal_agg_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_agg_combine,
  SERIALFUNC = petal_agg_serialize,
  DESERIALFUNC = petal_agg_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_agg_transition(internal, anyelement, bigint, double precision) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_agg(key anyelement, capacity bigint, false_positive_rate double precision) (
  SFUNC = petal_agg_transition,
  STYPE = internal,
  FINALFUNC = petal_agg_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_agg_combine,
  SERIALFUNC = petal_agg_serialize,
  DESERIALFUNC = petal_agg_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_agg_transition(internal, anyelement, bigint, double precision, text) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_agg(key anyelement, capacity bigint, false_positive_rate double precision, kind text) (
  SFUNC = petal_agg_transition,
  STYPE = internal,
  FINALFUNC = petal_agg_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_agg_combine,
  SERIALFUNC = petal_agg_serialize,
  DESERIALFUNC = petal_agg_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_agg_transition(internal, text) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_agg(key text) (
  SFUNC = petal_agg_transition,
  STYPE = internal,
  FINALFUNC = petal_agg_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_agg_combine,
  SERIALFUNC = petal_agg_serialize,
  DESERIALFUNC = petal_agg_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_agg_transition(internal, text, bigint) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_agg(key text, capacity bigint) (
  SFUNC = petal_agg_transition,
  STYPE = internal,
  FINALFUNC = petal_agg_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_agg_combine,
  SERIALFUNC = petal_agg_serialize,
  DESERIALFUNC = petal_agg_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_agg_transition(internal, text, bigint, double precision) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_agg(key text, capacity bigint, false_positive_rate double precision) (
  SFUNC = petal_agg_transition,
  STYPE = internal,
  FINALFUNC = petal_agg_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_agg_combine,
  SERIALFUNC = petal_agg_serialize,
  DESERIALFUNC = petal_agg_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_agg_transition(internal, text, bigint, double precision, text) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_agg(key text, capacity bigint, false_positive_rate double precision, kind text) (
  SFUNC = petal_agg_transition,
  STYPE = internal,
  FINALFUNC = petal_agg_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_agg_combine,
  SERIALFUNC = petal_agg_serialize,
  DESERIALFUNC = petal_agg_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_agg_transition(internal, character) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_agg(key character) (
  SFUNC = petal_agg_transition,
  STYPE = internal,
  FINALFUNC = petal_agg_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_agg_combine,
  SERIALFUNC = petal_agg_serialize,
  DESERIALFUNC = petal_agg_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_agg_transition(internal, character, bigint) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_agg(key character, capacity bigint) (
  SFUNC = petal_agg_transition,
  STYPE = internal,
  FINALFUNC = petal_agg_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_agg_combine,
  SERIALFUNC = petal_agg_serialize,
  DESERIALFUNC = petal_agg_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_agg_transition(internal, character, bigint, double precision) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_agg(key character, capacity bigint, false_positive_rate double precision) (
  SFUNC = petal_agg_transition,
  STYPE = internal,
  FINALFUNC = petal_agg_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_agg_combine,
  SERIALFUNC = petal_agg_serialize,
  DESERIALFUNC = petal_agg_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_agg_transition(internal, character, bigint, double precision, text) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_agg_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_agg(key character, capacity bigint, false_positive_rate double precision, kind text) (
  SFUNC = petal_agg_transition,
  STYPE = internal,
  FINALFUNC = petal_agg_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_agg_combine,
  SERIALFUNC = petal_agg_serialize,
  DESERIALFUNC = petal_agg_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_map_final(internal) RETURNS petal
AS 'MODULE_PATHNAME', 'petal_sql_map_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION petal_map_combine(internal, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_map_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION petal_map_serialize(internal) RETURNS bytea
AS 'MODULE_PATHNAME', 'petal_sql_map_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION petal_map_deserialize(bytea, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_map_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION petal_map_transition(internal, anyelement, bigint) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_map_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_build_map(key anyelement, value bigint) (
  SFUNC = petal_map_transition,
  STYPE = internal,
  FINALFUNC = petal_map_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_map_combine,
  SERIALFUNC = petal_map_serialize,
  DESERIALFUNC = petal_map_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_map_transition(internal, anyelement, bigint, double precision) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_map_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_build_map(key anyelement, value bigint, false_positive_rate double precision) (
  SFUNC = petal_map_transition,
  STYPE = internal,
  FINALFUNC = petal_map_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_map_combine,
  SERIALFUNC = petal_map_serialize,
  DESERIALFUNC = petal_map_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_map_transition(internal, anyelement, bigint, double precision, text) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_map_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_build_map(key anyelement, value bigint, false_positive_rate double precision, kind text) (
  SFUNC = petal_map_transition,
  STYPE = internal,
  FINALFUNC = petal_map_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_map_combine,
  SERIALFUNC = petal_map_serialize,
  DESERIALFUNC = petal_map_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_map_transition(internal, text, bigint) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_map_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_build_map(key text, value bigint) (
  SFUNC = petal_map_transition,
  STYPE = internal,
  FINALFUNC = petal_map_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_map_combine,
  SERIALFUNC = petal_map_serialize,
  DESERIALFUNC = petal_map_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_map_transition(internal, text, bigint, double precision) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_map_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_build_map(key text, value bigint, false_positive_rate double precision) (
  SFUNC = petal_map_transition,
  STYPE = internal,
  FINALFUNC = petal_map_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_map_combine,
  SERIALFUNC = petal_map_serialize,
  DESERIALFUNC = petal_map_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_map_transition(internal, text, bigint, double precision, text) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_map_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_build_map(key text, value bigint, false_positive_rate double precision, kind text) (
  SFUNC = petal_map_transition,
  STYPE = internal,
  FINALFUNC = petal_map_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_map_combine,
  SERIALFUNC = petal_map_serialize,
  DESERIALFUNC = petal_map_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_map_transition(internal, character, bigint) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_map_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_build_map(key character, value bigint) (
  SFUNC = petal_map_transition,
  STYPE = internal,
  FINALFUNC = petal_map_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_map_combine,
  SERIALFUNC = petal_map_serialize,
  DESERIALFUNC = petal_map_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_map_transition(internal, character, bigint, double precision) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_map_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_build_map(key character, value bigint, false_positive_rate double precision) (
  SFUNC = petal_map_transition,
  STYPE = internal,
  FINALFUNC = petal_map_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_map_combine,
  SERIALFUNC = petal_map_serialize,
  DESERIALFUNC = petal_map_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_map_transition(internal, character, bigint, double precision, text) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_map_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_build_map(key character, value bigint, false_positive_rate double precision, kind text) (
  SFUNC = petal_map_transition,
  STYPE = internal,
  FINALFUNC = petal_map_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = petal_map_combine,
  SERIALFUNC = petal_map_serialize,
  DESERIALFUNC = petal_map_deserialize,
  PARALLEL = SAFE
);

CREATE FUNCTION petal_merge_final(internal) RETURNS petal
AS 'MODULE_PATHNAME', 'petal_sql_merge_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION petal_merge_combine(internal, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_merge_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION petal_merge_serialize(internal) RETURNS bytea
AS 'MODULE_PATHNAME', 'petal_sql_merge_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION petal_merge_deserialize(bytea, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_merge_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION petal_merge_transition(internal, petal) RETURNS internal
AS 'MODULE_PATHNAME', 'petal_sql_merge_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE petal_merge_agg(filter petal) (
  SFUNC = petal_merge_transition,
  STYPE = internal,
  FINALFUNC = petal_merge_final,
  COMBINEFUNC = petal_merge_combine,
  SERIALFUNC = petal_merge_serialize,
  DESERIALFUNC = petal_merge_deserialize,
  PARALLEL = SAFE
);
