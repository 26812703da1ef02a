-- Events arrive more than once. Those of the days before are in an archive, which is large and slow to ask; a filter of
-- each day says of most new events, without a look at the archive, that they are new.
CREATE TABLE archive(day TEXT, id INTEGER);
CREATE TABLE arrived(id INTEGER);
INSERT INTO archive
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
  SELECT CASE WHEN i <= 1000 THEN 'monday' ELSE 'tuesday' END, i FROM n;
INSERT INTO arrived VALUES (500), (1500), (7000), (8000), (8000);

-- Filters that are made with one capacity and rate can be merged.
CREATE TABLE days(day TEXT PRIMARY KEY, filter BLOB);
INSERT INTO days SELECT day, petal_agg(id, 10000, 0.0001) FROM archive GROUP BY day;
CREATE TABLE known(filter BLOB);
INSERT INTO known SELECT petal_merge_agg(filter) FROM days;

SELECT 'new', id FROM arrived WHERE NOT petal_contains((SELECT filter FROM known), id) GROUP BY id;
-- > new|7000
-- > new|8000

-- Only the others are looked for in the archive.
SELECT 'seen', id FROM arrived
WHERE petal_contains((SELECT filter FROM known), id) AND id IN (SELECT id FROM archive) ORDER BY id;
-- > seen|500
-- > seen|1500
SELECT day, round(petal_estimate(filter)) FROM days ORDER BY day;
-- > monday|1000.0
-- > tuesday|998.0
