#!/bin/sh
# bench.sh PSQL [ROWS]: the extension beside what PostgreSQL does without it, in the database that psql reaches and that
# has the extension. Makes a table of ROWS rows (10000000) in the schema petal_bench, and removes it at the end.
#
# Each figure is the least of five runs without parallel workers.
set -eu
psql=$1
rows=${2-10000000}

sql() {
    "$psql" -XAtq -v ON_ERROR_STOP=1 \
        -c "SET search_path = petal_bench, public; SET max_parallel_workers_per_gather = 0" "$@"
}
trap 'sql -c "SET client_min_messages = error; DROP SCHEMA petal_bench CASCADE"' EXIT

sql -c "DROP SCHEMA IF EXISTS petal_bench CASCADE" -c "CREATE SCHEMA petal_bench" 2>/dev/null
sql -c "CREATE TABLE rows AS SELECT i * 7919 AS k, 'user-' || i AS s FROM generate_series(1::bigint, $rows) i" \
    -c "CREATE TABLE few AS SELECT k FROM rows WHERE k % 20 = 0" \
    -c "CREATE TABLE filters AS SELECT petal_agg(k) AS filter FROM few" -c "VACUUM ANALYZE"

# least NAME QUERY: milliseconds, and nanoseconds a row.
least() {
    for _ in 1 2 3 4 5; do
        sql -c '\timing on' -c "$2" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | tail -n 1
    done | sort -n | head -n 1 | awk -v name="$1" -v rows="$rows" \
        '{ printf "%-58s %8.0f ms %6.1f ns a row\n", name, $1, $1 * 1e6 / rows }'
}
least "SELECT count(*), the scan alone" "SELECT count(*) FROM rows"
least "bit_xor(hashint8(k))" "SELECT bit_xor(hashint8(k)) FROM rows"
least "petal_agg(k, $rows)" "SELECT length(petal_agg(k, $rows)::bytea) FROM rows"
least "petal_agg(k)" "SELECT length(petal_agg(k)::bytea) FROM rows"
least "petal_agg(k, 0, 0.01, 'fuse')" "SELECT length(petal_agg(k, 0, 0.01, 'fuse')::bytea) FROM rows"
least "bit_xor(hashtext(s))" "SELECT bit_xor(hashtext(s)) FROM rows"
least "petal_agg(s, $rows)" "SELECT length(petal_agg(s, $rows)::bytea) FROM rows"
least "petal_build_map(k, k % 256)" "SELECT length(petal_build_map(k, k % 256)::bytea) FROM rows"
least "lookups in a constant filter" "SELECT count(*) FROM rows WHERE petal_contains((SELECT filter FROM filters), k)"
least "lookups by a join with the filter's table" "SELECT count(*) FROM rows, filters WHERE filter @> k"
least "hash semi-join that keeps 5 %" "SELECT count(*) FROM rows WHERE k IN (SELECT k FROM few)"
least "the same by a filter made in the query" \
    "SELECT count(*) FROM rows WHERE petal_contains((SELECT petal_agg(k) FROM few), k)"

hash="SELECT count(*) FROM rows WHERE k IN (SELECT k FROM few)"
for work_mem in 4MB 1GB; do
    sql -c "SET work_mem = '$work_mem'" -c "EXPLAIN (ANALYZE, COSTS off, TIMING off) $hash" |
        sed -n "s/.*Batches: \([0-9]*\).*Memory Usage: \([0-9]*\)kB.*/the semi-join's hash table with work_mem = $work_mem: \
\2 kB in memory, in \1 batches/p"
done
sql -c "SELECT 'the filter: ' || length(filter::bytea) / 1024 || ' kB' FROM filters"
