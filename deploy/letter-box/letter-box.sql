-- The letter box of a house: what its worker puts in, and a head office reads by logical replication (docs/head-office.md).
-- Run by a superuser in the letter box's own server, never in the house's: a role that may replicate may copy all of
-- the server that it reads. Passwords are set afterwards: \password casino_letters, \password casino_fetcher
--   psql --set=ON_ERROR_STOP=1 --dbname=letter_box --file=deploy/letter-box/letter-box.sql

SELECT 'CREATE ROLE casino_letters LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'casino_letters') \gexec
SELECT 'CREATE ROLE casino_fetcher LOGIN REPLICATION'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'casino_fetcher') \gexec

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO casino_letters, casino_fetcher;

-- Named and spelled as at the head office, which is where replication puts it.
CREATE TABLE IF NOT EXISTS office_piece (
    bundle varchar(64) NOT NULL,
    start bigint NOT NULL,
    number integer NOT NULL,
    size bigint NOT NULL,
    content bytea NOT NULL CHECK (octet_length(content) BETWEEN 1 AND 524288),
    written pg_lsn NOT NULL DEFAULT pg_current_wal_insert_lsn(), -- so that nothing goes before it was fetched
    PRIMARY KEY (bundle, start)
);
-- Written once. What was fetched long ago is taken away here and nowhere else: only what is added is published.
GRANT SELECT, INSERT, DELETE ON office_piece TO casino_letters;
GRANT SELECT (bundle, start, number, size, content) ON office_piece TO casino_fetcher;

SELECT 'CREATE PUBLICATION sealed_days FOR TABLE office_piece (bundle, start, number, size, content)'
    ' WITH (publish = ''insert'')'
WHERE NOT EXISTS (SELECT FROM pg_publication WHERE pubname = 'sealed_days') \gexec
