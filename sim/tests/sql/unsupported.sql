-- SHOW DATABASES is not supported by this version
show databases

-- SHOW TABLES is not supported by this version
show tables

-- DROP TABLE is not supported by this version
drop table if exists logs

-- LOCATION is not supported by this version
CREATE TABLE IF NOT EXISTS cities USING DELTA LOCATION '/tables/cities'

-- DESCRIBE HISTORY is not supported by this version
DESCRIBE HISTORY cities LIMIT 1

-- TIMESTAMP AS OF is not supported by this version
SELECT count(*) FROM my_table TIMESTAMP AS OF "2019-01-01"

-- TIMESTAMP AS OF is not supported by this version
SELECT * FROM t TIMESTAMP AS OF '2019-01-01' EXCEPT SELECT * FROM t TIMESTAMP AS OF '2018-01-01'

-- TIMESTAMP AS OF (`table@timestamp`) is not supported by this version
SELECT * FROM cities@20240626123453000

-- VERSION AS OF takes the number of a version; for an instant write TIMESTAMP AS OF
SELECT * FROM cities VERSION AS OF timestamp '2024-06-26T12:34:53.000Z'

-- SET is not supported by this version
SET spark.databricks.delta.retentionDurationCheck.enabled = false

-- OPTIMIZE is not supported by this version
OPTIMIZE logs

-- OPTIMIZE is not supported by this version
OPTIMIZE logs WHERE date >= current_timestamp() - INTERVAL 2 HOURS

-- VACUUM is not supported by this version
VACUUM logs

-- VACUUM is not supported by this version
VACUUM logs RETAIN 0 HOURS

-- RESTORE is not supported by this version
RESTORE TABLE cities TO VERSION AS OF 0

-- RESTORE is not supported by this version
RESTORE cities TO TIMESTAMP AS OF '2024-06-26T12:34:53.000Z'

-- CREATE TEMP VIEW is not supported by this version
CREATE TEMP VIEW v AS SELECT * FROM cities

-- WITH (a common table expression) is not supported by this version
WITH x AS (SELECT * FROM t VERSION AS OF 2 EXCEPT SELECT * FROM t VERSION AS OF 1) MERGE INTO t USING x ON t.a = x.a WHEN MATCHED THEN DELETE

-- MERGE is not supported by this version
MERGE INTO logs AS trg USING logs2 AS src ON trg.id = src.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED BY SOURCE THEN DELETE

-- CREATE TABLE AS SELECT is not supported by this version
CREATE TABLE copy AS SELECT * FROM logs

-- CREATE OR REPLACE TABLE is not supported by this version
CREATE OR REPLACE TABLE logs (id INT)

-- REPLACE TABLE is not supported by this version
REPLACE TABLE logs (id INT)

-- OVER (a window function) is not supported by this version
SELECT id, row_number() OVER (PARTITION BY id ORDER BY date DESC) AS n FROM logs

-- a subquery in FROM is not supported by this version
SELECT * FROM (SELECT * FROM logs) WHERE id = 1

-- a subquery is not supported by this version
DELETE FROM logs WHERE id IN (SELECT id FROM logs)

-- a subquery (EXISTS) is not supported by this version
SELECT * FROM logs WHERE EXISTS (id)

-- a subquery is not supported by this version
SELECT * FROM logs WHERE NOT EXISTS (SELECT 1)

-- INSERT OVERWRITE is not supported by this version
INSERT OVERWRITE logs VALUES (1, NULL)

-- INSERT REPLACE is not supported by this version
INSERT INTO logs REPLACE WHERE id = 1 SELECT * FROM logs

-- INSERT BY NAME is not supported by this version
INSERT INTO logs BY NAME SELECT * FROM logs

-- PARTITION in INSERT is not supported by this version
INSERT INTO logs PARTITION (id = 1) VALUES (NULL)

-- DEFAULT VALUES is not supported by this version
INSERT INTO logs DEFAULT VALUES

-- ON is not supported by this version
INSERT INTO logs VALUES (1, NULL) ON CONFLICT DO NOTHING

-- RETURNING is not supported by this version
DELETE FROM logs WHERE id = 1 RETURNING id

-- USING is not supported by this version
DELETE FROM logs USING other WHERE id = 1

-- FROM in this place is not supported by this version
UPDATE logs SET id = 1 FROM other WHERE id = 1

-- DEFAULT in UPDATE is not supported by this version
UPDATE logs SET id = DEFAULT

-- an assignment to several columns at once is not supported by this version
UPDATE logs SET (id, date) = (1, NULL)

-- GROUP BY is not supported by this version
SELECT id, count(*) FROM logs GROUP BY id

-- HAVING is not supported by this version
SELECT count(*) FROM logs HAVING count(*) > 1

-- QUALIFY is not supported by this version
SELECT * FROM logs QUALIFY id = 1

-- JOIN is not supported by this version
SELECT * FROM logs JOIN other ON logs.id = other.id

-- JOIN is not supported by this version
SELECT * FROM logs l LEFT JOIN other USING (id)

-- JOIN is not supported by this version
SELECT * FROM logs NATURAL JOIN other

-- a second table in FROM (a join) is not supported by this version
SELECT * FROM logs, other

-- OFFSET is not supported by this version
SELECT * FROM logs LIMIT 1 OFFSET 2

-- an offset in LIMIT is not supported by this version
SELECT * FROM logs LIMIT 1, 2

-- FETCH is not supported by this version
SELECT * FROM logs FETCH FIRST 1 ROWS ONLY

-- FOR is not supported by this version
SELECT * FROM logs FOR UPDATE

-- TABLESAMPLE is not supported by this version
SELECT * FROM logs TABLESAMPLE (10 PERCENT)

-- LATERAL VIEW is not supported by this version
SELECT * FROM logs LATERAL VIEW explode(id) AS x

-- INTO is not supported by this version
SELECT 1 INTO other FROM logs

-- SORT BY is not supported by this version
SELECT * FROM logs SORT BY id

-- WINDOW is not supported by this version
SELECT * FROM logs WINDOW w AS (ORDER BY id)

-- * EXCEPT is not supported by this version
SELECT * EXCEPT (id) FROM logs

-- DISTINCT ON is not supported by this version
SELECT DISTINCT ON (id) id FROM logs

-- FILTER is not supported by this version
SELECT count(*) FILTER (WHERE id = 1) FROM logs

-- WITHIN is not supported by this version
SELECT max(id) WITHIN GROUP (ORDER BY id) FROM logs

-- the table function range is not supported by this version
SELECT * FROM range(0, 3)

-- VALUES in FROM is not supported by this version
SELECT * FROM VALUES (1), (2)

-- ORDER BY ALL is not supported by this version
SELECT * FROM logs ORDER BY ALL

-- BY NAME is not supported by this version
SELECT * FROM logs UNION ALL BY NAME SELECT * FROM logs

-- LIMIT inside parentheses is not supported by this version
(SELECT * FROM logs LIMIT 1) UNION SELECT * FROM logs

-- a name of several parts (main.…) is not supported by this version
SELECT * FROM main.logs

-- a name of several parts (delta.…) is not supported by this version
DELETE FROM delta.`/tables/logs`

-- DEFAULT of a column is not supported by this version
CREATE TABLE t (id INT DEFAULT 1)

-- GENERATED (a generated column) is not supported by this version
CREATE TABLE t (id INT, next INT GENERATED ALWAYS AS (id + 1))

-- PRIMARY of a column is not supported by this version
CREATE TABLE t (id INT PRIMARY KEY)

-- CONSTRAINT in CREATE TABLE is not supported by this version
CREATE TABLE t (id INT, CONSTRAINT positive CHECK (id > 0))

-- the nested type STRUCT is not supported by this version
CREATE TABLE t (place STRUCT<x: INT, y: INT>)

-- the nested type ARRAY is not supported by this version
CREATE TABLE t (list ARRAY<INT>)

-- the nested type MAP is not supported by this version
SELECT CAST(NULL AS MAP<STRING, INT>)

-- the type UUID is not supported by this version
CREATE TABLE t (id UUID)

-- USING `parquet` is not supported by this version
CREATE TABLE t (id INT) USING parquet

-- CLUSTER BY is not supported by this version
CREATE TABLE t (id INT) CLUSTER BY (id)

-- OPTIONS is not supported by this version
CREATE TABLE t (id INT) USING DELTA OPTIONS (a = 'b')

-- a type in PARTITIONED BY is not supported by this version
CREATE TABLE t (id INT) PARTITIONED BY (d DATE)

-- CREATE TABLE LIKE is not supported by this version
CREATE TABLE t LIKE logs

-- CLONE is not supported by this version
CREATE TABLE t SHALLOW CLONE logs

-- ALTER TABLE is not supported by this version
ALTER TABLE logs SET TBLPROPERTIES ('delta.appendOnly' = 'true')

-- TRUNCATE TABLE is not supported by this version
TRUNCATE TABLE logs

-- DESCRIBE DETAIL is not supported by this version
DESCRIBE DETAIL logs

-- DESCRIBE is not supported by this version
DESC logs

-- EXPLAIN is not supported by this version
EXPLAIN SELECT 1

-- USE is not supported by this version
USE main

-- `[` (an array) is not supported by this version
SELECT id[0] FROM logs

-- the number 1S is not supported by this version; use CAST
SELECT 1S

-- a literal of the form r '...' is not supported by this version
SELECT r'a\b'

-- the number 0x1F is not supported by this version
SELECT 0x1F
