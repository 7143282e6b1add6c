-- Subscribes a head office to a house's letter box (docs/head-office.md). Run it as a superuser in the head office's
-- database. Run it again to read the box from the beginning: after the slot was lost, the box or its password changed,
-- or this database was restored to an earlier state:
--   HOUSE_CONNECTION='host=... dbname=letter_box user=casino_fetcher password=... sslmode=verify-full sslrootcert=...' \
--   psql --set=ON_ERROR_STOP=1 --set=house=north --dbname=casino --file=deploy/subscription.sql
-- PostgreSQL stores the connection where only superusers can read it. The server must be version 16 or newer: older ones
-- have no run_as_owner, and would fail half-way, after dropping the old subscription.
\set ON_ERROR_STOP on
\set VERBOSITY terse

DO $$
BEGIN
    IF current_setting('server_version_num')::integer < 160000 THEN
        RAISE EXCEPTION 'This server is PostgreSQL %, but a head office needs 16 or newer to read letter boxes. Nothing was changed.',
            split_part(current_setting('server_version'), ' ', 1);
    END IF;
END $$;

\getenv connection HOUSE_CONNECTION
SELECT 'house_' || replace(:'house', '-', '_') AS line \gset
-- The slot's name ends with the second of its birth: by that the house knows how long it has been read (letter_box.py).
SELECT :'line' || '_' || extract(epoch FROM now())::bigint AS slot \gset

-- First to the house: nothing changes here if that line does not work. What an earlier subscription left there would hold
-- the box up, and no slot may be taken that nobody reads.
\set office_database :DBNAME
\set office_user :USER
\set office_host :HOST
\set office_port :PORT
\connect -reuse-previous=off :connection
SELECT count(pg_drop_replication_slot(slot_name)) AS dropped FROM pg_replication_slots
WHERE database = current_database() AND NOT active
    AND (slot_name = :'line' OR slot_name ~ ('^' || :'line' || '_[0-9]+$') OR slot_name ~ '^pg_[0-9]+_sync_') \gset
\connect -reuse-previous=off :office_database :office_user :office_host :office_port
-- The connection is part of the statements below: a server must not write them into its log.
SET log_statement = 'none';
SET log_min_error_statement = 'panic';
SET log_min_duration_statement = -1;

-- Rows are applied with the rights of this role, so a house that publishes other tables cannot write to them here. It has
-- no password: nobody can sign in as it.
SELECT 'CREATE ROLE casino_subscriber LOGIN'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'casino_subscriber') \gexec
GRANT USAGE ON SCHEMA public TO casino_subscriber;
GRANT SELECT, INSERT ON office_piece TO casino_subscriber;

SELECT count(*) > 0 AS is_there FROM pg_subscription
WHERE subname = :'line' AND subdbid = (SELECT oid FROM pg_database WHERE datname = current_database()) \gset
\if :is_there
    -- Drop it together with its slot, through the new connection. A new box does not have the slot: then only the
    -- subscription is dropped.
    ALTER SUBSCRIPTION :"line" DISABLE;
    ALTER SUBSCRIPTION :"line" CONNECTION :'connection';
    \set ON_ERROR_STOP off
    DROP SUBSCRIPTION :"line";
    \if :ERROR
        ALTER SUBSCRIPTION :"line" SET (slot_name = NONE);
        DROP SUBSCRIPTION :"line";
    \endif
    \set ON_ERROR_STOP on
\endif
CREATE SUBSCRIPTION :"line" CONNECTION :'connection' PUBLICATION sealed_days
    WITH (slot_name = :'slot', enabled = false, run_as_owner = true);
ALTER SUBSCRIPTION :"line" OWNER TO casino_subscriber; -- before the first row arrives
ALTER SUBSCRIPTION :"line" ENABLE;
