-- An application asks whether a password is among breached ones. Keys are the hashes of passwords, as lists of them have
-- them; here these are only pieces of text. The filter takes two bytes for each, so that of a list of a billion takes two
-- gigabytes, which would be a file for petal_contains_file().
CREATE TABLE breached(hash BLOB PRIMARY KEY) WITHOUT ROWID;
INSERT INTO breached
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
  SELECT CAST('hash of password ' || i AS BLOB) FROM n;

-- The filter is a row of a table, made anew whenever the list changes.
CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
INSERT INTO filters SELECT 'breached', petal_agg(hash, NULL, 0.001) FROM breached;

SELECT 'known', petal_contains((SELECT filter FROM filters WHERE name = 'breached'), CAST('hash of password 7' AS BLOB));
-- > known|1
SELECT 'new', petal_contains((SELECT filter FROM filters WHERE name = 'breached'), CAST('hash of another one' AS BLOB));
-- > new|0

-- What it takes, and how often it says yes to a password that is in no list.
SELECT length(filter), json_extract(petal_info(filter), '$.insertions'),
       round(json_extract(petal_info(filter), '$.statistics.false_positive_rate'), 3)
FROM filters;
-- > 2304|1000|0.001
