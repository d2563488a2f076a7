-- The clinic that the suites of DuckDB queries run over.
CREATE TYPE severity AS ENUM ('mild', 'severe', 'fatal');
CREATE TABLE patients (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, gender VARCHAR, born DATE, died DATE);
CREATE TABLE wards (ward VARCHAR PRIMARY KEY);
CREATE TABLE visits (
    id INTEGER PRIMARY KEY, patient INTEGER REFERENCES patients (id), day DATE,
    ward VARCHAR REFERENCES wards (ward), note VARCHAR, started TIMESTAMPTZ, ended TIMESTAMPTZ,
    cost DECIMAL(10, 2), tags VARCHAR[]
);
CREATE TABLE readings (
    id INTEGER, visit INTEGER REFERENCES visits (id), kind VARCHAR, value DOUBLE, taken TIMESTAMP
);
CREATE TABLE diagnoses (id INTEGER PRIMARY KEY, visit INTEGER REFERENCES visits (id), code VARCHAR, severity severity);
CREATE TABLE prescriptions (
    id INTEGER PRIMARY KEY, visit INTEGER REFERENCES visits (id), drug VARCHAR, dose DOUBLE, route VARCHAR,
    starts DATE, stops DATE
);
CREATE TABLE documents (id INTEGER PRIMARY KEY, patient INTEGER, body JSON);
CREATE TABLE staff (
    id INTEGER PRIMARY KEY, boss INTEGER, name VARCHAR, full_name VARCHAR GENERATED ALWAYS AS ('Dr ' || name)
);
CREATE TABLE "order details" ("unit price" DOUBLE, "a,b" VARCHAR);
CREATE TABLE "Körper" ("Größe" INTEGER);
CREATE SCHEMA archive;
CREATE TABLE archive."Old Visits" (id INTEGER, "Ward Name" VARCHAR, PRIMARY KEY (id));
CREATE TABLE events (happened DATE, amount INTEGER, place STRUCT(floor INTEGER, room VARCHAR), vitals MAP(VARCHAR, DOUBLE));
CREATE VIEW adults AS SELECT * FROM patients WHERE born < DATE '2082-12-31';
CREATE VIEW ward_counts AS SELECT ward, count(*) AS n FROM visits GROUP BY ward;
CREATE VIEW recent AS SELECT * FROM visits WHERE day > current_date - 30;
CREATE VIEW recent_icu AS SELECT * FROM recent WHERE ward = 'icu';
CREATE MACRO wiped(x) AS x + 1;
CREATE SEQUENCE numbers;
COMMENT ON TABLE patients IS 'Everyone who was ever admitted';
COMMENT ON COLUMN patients.died IS 'Date of death, if known';

INSERT INTO wards VALUES ('icu'), ('surgery'), ('medicine'), ('empty');
INSERT INTO patients
SELECT n, 'p' || n, ['f', 'm'][n % 2 + 1], DATE '2020-01-01' + 700 * n,
    CASE WHEN n % 9 = 0 THEN DATE '2100-06-01' + n END
FROM (SELECT range::INTEGER AS n FROM range(1, 41));
INSERT INTO visits
SELECT n, n % 37 + 1, DATE '2100-01-01' + n % 180, ['icu', 'surgery', 'medicine'][n % 3 + 1],
    ['stable since day ', 'worse on day '][n % 2 + 1] || n % 5,
    TIMESTAMPTZ '2100-01-01 08:00+00' + (n % 180) * INTERVAL '1 day',
    CASE WHEN n % 7 > 0 THEN TIMESTAMPTZ '2100-01-01 20:30+00' + (n % 180 + n % 11) * INTERVAL '1 day' END,
    n * 12.5, CASE WHEN n % 4 = 0 THEN ['urgent', 'transfer'] ELSE ['planned'] END
FROM (SELECT range::INTEGER AS n FROM range(1, 301));
INSERT INTO readings
SELECT n, n % 300 + 1, ['glucose', 'sodium', 'potassium'][n % 3 + 1], n % 199 + 0.25,
    TIMESTAMP '2100-01-01' + n * INTERVAL '7 minutes'
FROM (SELECT range::INTEGER AS n FROM range(1, 12001));
INSERT INTO diagnoses
SELECT n, n % 300 + 1, ['I10', 'E11', 'J18', 'I50'][n % 4 + 1], ['mild', 'severe', 'fatal'][n % 3 + 1]::severity
FROM (SELECT range::INTEGER AS n FROM range(1, 501));
INSERT INTO prescriptions
SELECT n, n % 300 + 1, ['heparin', 'insulin', 'aspirin'][n % 3 + 1], n % 10 * 0.5,
    ['iv', 'oral'][n % 2 + 1], DATE '2100-01-01' + n % 180,
    CASE WHEN n % 5 > 0 THEN DATE '2100-01-05' + n % 180 END
FROM (SELECT range::INTEGER AS n FROM range(1, 601));
INSERT INTO documents
SELECT n, n, json_object('allergy', ['nuts', 'none'][n % 2 + 1], 'vitals', json_object('pulse', 60 + n),
    'drugs', json_array('aspirin', 'd' || n))
FROM (SELECT range::INTEGER AS n FROM range(1, 41));
INSERT INTO staff (id, boss, name) SELECT n, nullif(n // 2, 0), 's' || n FROM (SELECT range::INTEGER AS n FROM range(1, 31));
INSERT INTO "order details" VALUES (1.5, 'x'), (2.5, 'y');
INSERT INTO "Körper" VALUES (170), (180);
INSERT INTO archive."Old Visits" VALUES (1, 'a'), (2, 'b');
INSERT INTO events
SELECT DATE '2100-01-01' + n, n, {'floor': n % 4, 'room': 'r' || n}, MAP {'pulse': 60.5 + n, 'temp': 37.0}
FROM (SELECT range::INTEGER AS n FROM range(1, 301));
CHECKPOINT;
