-- The clinic that the suites of PostgreSQL queries run over, and a role that only reads it.
CREATE TYPE severity AS ENUM ('mild', 'severe', 'fatal');
CREATE TABLE patients (id int PRIMARY KEY, name text NOT NULL, gender char(1), born date, died date);
CREATE TABLE wards (ward text PRIMARY KEY);
CREATE TABLE visits (
    id serial PRIMARY KEY, patient int REFERENCES patients, day date, ward text REFERENCES wards,
    note text, started timestamptz, ended timestamptz, cost numeric(10, 2), tags text[]
);
CREATE TABLE readings (
    id int PRIMARY KEY, visit int REFERENCES visits, kind text, value numeric, at timestamp
);
CREATE TABLE diagnoses (id int PRIMARY KEY, visit int REFERENCES visits, code text, severity severity);
CREATE TABLE prescriptions (
    id int PRIMARY KEY, visit int REFERENCES visits, drug text, dose float8, route text, starts date,
    stops date
);
CREATE TABLE documents (id int PRIMARY KEY, patient int REFERENCES patients, body jsonb);
CREATE TABLE staff (
    id int PRIMARY KEY, boss int REFERENCES staff, name text,
    full_name text GENERATED ALWAYS AS ('Dr ' || name) STORED
);
CREATE TABLE "order details" ("unit price" float8, "a,b" text);
CREATE TABLE "Körper" ("Größe" int);
CREATE SCHEMA archive;
CREATE TABLE archive."Old Visits" (id int, "Ward Name" text, PRIMARY KEY (id));
CREATE TABLE events (at date, amount int) PARTITION BY RANGE (at);
CREATE TABLE events_early PARTITION OF events FOR VALUES FROM ('2100-01-01') TO ('2100-07-01');
CREATE TABLE events_late PARTITION OF events FOR VALUES FROM ('2100-07-01') TO ('2101-01-01');
CREATE VIEW adults AS SELECT * FROM patients WHERE born < DATE '2082-12-31';
CREATE FUNCTION wipe() RETURNS int LANGUAGE sql VOLATILE AS $$ DELETE FROM diagnoses; SELECT 1 $$;
CREATE PROCEDURE wipe_all() LANGUAGE sql AS $$ DELETE FROM diagnoses $$;
COMMENT ON TABLE patients IS 'Everyone who was ever admitted';
COMMENT ON COLUMN patients.died IS 'Date of death, if known';

INSERT INTO wards VALUES ('icu'), ('surgery'), ('medicine'), ('empty');
INSERT INTO patients
SELECT n, 'p' || n, (ARRAY['f', 'm'])[n % 2 + 1], DATE '2020-01-01' + 700 * n,
    CASE WHEN n % 9 = 0 THEN DATE '2100-06-01' + n END
FROM generate_series(1, 40) n;
INSERT INTO visits (patient, day, ward, note, started, ended, cost, tags)
SELECT n % 37 + 1, DATE '2100-01-01' + n % 180, (ARRAY['icu', 'surgery', 'medicine'])[n % 3 + 1],
    (ARRAY['stable since day ', 'worse on day '])[n % 2 + 1] || n % 5,
    TIMESTAMPTZ '2100-01-01 08:00+00' + n % 180 * INTERVAL '1 day',
    CASE WHEN n % 7 > 0 THEN TIMESTAMPTZ '2100-01-01 20:30+00' + (n % 180 + n % 11) * INTERVAL '1 day' END,
    n * 12.5, CASE WHEN n % 4 = 0 THEN ARRAY['urgent', 'transfer'] ELSE ARRAY['planned'] END
FROM generate_series(1, 300) n;
INSERT INTO readings
SELECT n, n % 300 + 1, (ARRAY['glucose', 'sodium', 'potassium'])[n % 3 + 1], n % 199 + 0.25,
    TIMESTAMP '2100-01-01' + n * INTERVAL '7 minutes'
FROM generate_series(1, 12000) n;
INSERT INTO diagnoses
SELECT n, n % 300 + 1, (ARRAY['I10', 'E11', 'J18', 'I50'])[n % 4 + 1],
    (ARRAY['mild', 'severe', 'fatal'])[n % 3 + 1]::severity
FROM generate_series(1, 500) n;
INSERT INTO prescriptions
SELECT n, n % 300 + 1, (ARRAY['heparin', 'insulin', 'aspirin'])[n % 3 + 1], n % 10 * 0.5,
    (ARRAY['iv', 'oral'])[n % 2 + 1], DATE '2100-01-01' + n % 180,
    CASE WHEN n % 5 > 0 THEN DATE '2100-01-05' + n % 180 END
FROM generate_series(1, 600) n;
INSERT INTO documents
SELECT n, n, jsonb_build_object('allergy', (ARRAY['nuts', 'none'])[n % 2 + 1], 'vitals',
    jsonb_build_object('pulse', 60 + n), 'drugs', jsonb_build_array('aspirin', 'd' || n))
FROM generate_series(1, 40) n;
INSERT INTO staff SELECT n, nullif(n / 2, 0), 's' || n FROM generate_series(1, 30) n;
INSERT INTO "order details" VALUES (1.5, 'x'), (2.5, 'y');
INSERT INTO "Körper" VALUES (170), (180);
INSERT INTO archive."Old Visits" VALUES (1, 'a'), (2, 'b');
INSERT INTO events SELECT DATE '2100-01-01' + n, n FROM generate_series(1, 300) n;
CREATE MATERIALIZED VIEW ward_counts AS SELECT ward, count(*) AS n FROM visits GROUP BY ward;

REVOKE ALL ON DATABASE clinic FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
CREATE ROLE reader LOGIN;
ALTER ROLE reader SET default_transaction_read_only = on;
GRANT CONNECT ON DATABASE clinic TO reader;
GRANT USAGE ON SCHEMA public, archive TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public, archive TO reader;
ANALYZE;
