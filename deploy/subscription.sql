-- A house's letter box, read by logical replication (docs/head-office.md). Run at the head office by a superuser, in its
-- database; again to read the box from the beginning: where the slot was lost, the box or
-- its password is another, or this database was put back to an earlier state:
--   HOUSE_CONNECTION='host=... dbname=letter_box user=casino_fetcher password=... sslmode=verify-full sslrootcert=...' \
--   psql --set=ON_ERROR_STOP=1 --set=house=north --dbname=casino --file=deploy/subscription.sql
-- The connection is kept where superusers alone read it. The server is PostgreSQL 16 or newer: older ones have no
-- run_as_owner, and would find that out half-way, with the subscription of before dropped.
\set ON_ERROR_STOP on
\set VERBOSITY terse

DO $$
BEGIN
    IF current_setting('server_version_num')::integer < 160000 THEN
        RAISE EXCEPTION 'This server is PostgreSQL %, and a head office reads letter boxes from 16 on. Nothing was changed.',
            split_part(current_setting('server_version'), ' ', 1);
    END IF;
END $$;

\getenv connection HOUSE_CONNECTION
SELECT 'house_' || replace(:'house', '-', '_') AS line \gset

-- What is applied is applied as this role, so a house that publishes other tables reaches none of them. It has no
-- password: nobody signs in as it.
SELECT 'CREATE ROLE casino_subscriber LOGIN'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'casino_subscriber') \gexec
GRANT USAGE ON SCHEMA public TO casino_subscriber;
GRANT SELECT, INSERT ON office_piece TO casino_subscriber;

SELECT count(*) > 0 AS is_there FROM pg_subscription
WHERE subname = :'line' AND subdbid = (SELECT oid FROM pg_database WHERE datname = current_database()) \gset
\if :is_there
    -- With its slot, and by the connection of today. A box that is another has no such slot.
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
    WITH (enabled = false, run_as_owner = true);
ALTER SUBSCRIPTION :"line" OWNER TO casino_subscriber; -- before the first row comes
ALTER SUBSCRIPTION :"line" ENABLE;
