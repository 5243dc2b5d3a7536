-- orders.sql - a small shop in memory: bulk inserts, an index, groups, a join, updates.
-- SPDX-License-Identifier: MIT
CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, city INTEGER);
CREATE TABLE sale(id INTEGER PRIMARY KEY, customer INTEGER, item INTEGER, cents INTEGER, note TEXT);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO customer SELECT i, printf('customer %05d', i * 7919 % 20000), i * 31 % 97 FROM n;
WITH RECURSIVE n(i, r) AS (
    SELECT 1, 12345
    UNION ALL
    SELECT i + 1, (r * 1103515245 + 12345) & 0x7fffffff FROM n WHERE i < 170000)
INSERT INTO sale
    SELECT i, 1 + (r >> 8) % 20000, (r >> 5) % 500, r % 10007, 'note ' || ((r >> 11) % 1000) FROM n;
COMMIT;
CREATE INDEX sale_customer ON sale(customer, cents);
SELECT item, count(*), sum(cents), max(note) FROM sale GROUP BY item ORDER BY 3 DESC, 1 LIMIT 5;
SELECT city, count(*), sum(cents) FROM customer JOIN sale ON sale.customer = customer.id
    WHERE name LIKE '%7%' GROUP BY city ORDER BY 3 DESC, 1 LIMIT 5;
UPDATE sale SET cents = cents + 1 WHERE customer % 3 = 0;
SELECT name, (SELECT sum(cents) FROM sale WHERE sale.customer = customer.id) AS total
    FROM customer ORDER BY total DESC, name LIMIT 5;
DELETE FROM sale WHERE id % 4 = 1;
SELECT count(*), sum(cents), count(DISTINCT note) FROM sale;
