create table if not exists logs ( id int, date timestamp );

CREATE TABLE IF NOT EXISTS logs (id INT, date TIMESTAMP);

CREATE TABLE logs2 (id INT, date TIMESTAMP);

DELETE FROM logs;

INSERT INTO logs(id, date) VALUES (1, current_timestamp());

UPDATE logs SET id = 2 WHERE id = 1;

UPDATE logs SET id = 1;

SELECT * FROM logs VERSION AS OF 1;

SELECT count(*) FROM my_table VERSION AS OF 5238;

SELECT * FROM logs@v1;

SELECT CAST(add_months(current_date(), -1) AS STRING);

SELECT current_timestamp() - INTERVAL 24 HOURS;

SELECT date_sub(current_date(), 1);

DELETE FROM cities WHERE city = 'Mumbai';

INSERT INTO cities SELECT * FROM cities VERSION AS OF 3 WHERE city = 'Mumbai';

INSERT INTO logs VALUES (2, TIMESTAMP '2024-06-26 12:00:00');

SELECT * FROM cities VERSION AS OF 4 EXCEPT SELECT * FROM cities VERSION AS OF 3;

CREATE TABLE cities (
  city STRING NOT NULL COMMENT 'its name',
  country STRING,
  population BIGINT, -- persons
  census_date DATE,
  area DECIMAL(10, 2)
) USING DELTA
PARTITIONED BY (country)
COMMENT "all of them"
TBLPROPERTIES ('delta.appendOnly' = 'false', delta.enableDeletionVectors = true, 'n' = 3);

SELECT DISTINCT city, population + 1 AS next FROM cities AS c WHERE c.country <=> 'India' ORDER BY next DESC NULLS LAST, 1 LIMIT 3;

SELECT count(*) + 1, sum(population), min(city) m, max(city) FROM `cities` WHERE population BETWEEN 1 AND 2 OR city NOT LIKE 'a\_%' ESCAPE '\\';

(SELECT id FROM logs) UNION ALL (SELECT 1 INTERSECT SELECT 2L) ORDER BY id;
