-- A house's letter box: its worker puts sealed days in, a head office reads them by logical replication
-- (docs/head-office.md). Run this as a superuser on the letter box's own server, never on the house's: a role that may
-- replicate can copy the whole server. Set passwords afterwards: \password casino_letters, \password casino_fetcher
--   psql --set=ON_ERROR_STOP=1 --dbname=letter_box --file=deploy/letter-box/letter-box.sql

SELECT 'CREATE ROLE casino_letters LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'casino_letters') \gexec
SELECT 'CREATE ROLE casino_fetcher LOGIN REPLICATION'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'casino_fetcher') \gexec

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO casino_letters, casino_fetcher;

-- The same name and columns as at the head office, where replication inserts the rows.
CREATE TABLE IF NOT EXISTS office_piece (
    bundle varchar(64) NOT NULL,
    start bigint NOT NULL,
    number integer NOT NULL,
    size bigint NOT NULL,
    content bytea NOT NULL CHECK (octet_length(content) BETWEEN 1 AND 524288),
    written pg_lsn NOT NULL DEFAULT pg_current_wal_insert_lsn(), -- so that nothing is deleted before it was fetched
    PRIMARY KEY (bundle, start)
);
-- Rows never change. Old ones are deleted only here: just insertions are published.
GRANT SELECT, INSERT, DELETE ON office_piece TO casino_letters;
GRANT SELECT (bundle, start, number, size, content) ON office_piece TO casino_fetcher;

SELECT 'CREATE PUBLICATION sealed_days FOR TABLE office_piece (bundle, start, number, size, content)'
    ' WITH (publish = ''insert'')'
WHERE NOT EXISTS (SELECT FROM pg_publication WHERE pubname = 'sealed_days') \gexec
