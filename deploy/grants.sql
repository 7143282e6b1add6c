-- What the application's role may do: everything that is not granted here is refused by the database itself.
-- Run by the owner of the tables: `manage.py grants`, or psql -v app_role=casino_app -f deploy/grants.sql

SELECT set_config('casino.app_role', :'app_role', false);

REVOKE ALL ON SCHEMA public FROM PUBLIC, :"app_role";
GRANT USAGE ON SCHEMA public TO :"app_role";
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, :"app_role";
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM PUBLIC, :"app_role";
REVOKE ALL ON ALL ROUTINES IN SCHEMA public FROM PUBLIC, :"app_role";
ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON TABLES FROM PUBLIC, :"app_role";

-- Rows that come and go: staff, tables, terminals, sessions, lock-outs. Never TRUNCATE. A new table of the ledger
-- gets nothing until it is named below.
DO $$
DECLARE
    name regclass;
BEGIN
    EXECUTE format('REVOKE CREATE, TEMPORARY ON DATABASE %I FROM PUBLIC, %I',
                   current_database(), current_setting('casino.app_role'));
    FOR name IN
        SELECT oid FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname NOT LIKE 'ledger\_%'
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %I', name, current_setting('casino.app_role'));
    END LOOP;
END $$;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO :"app_role";

-- Rows that are written once: the log, the chips, the findings about them, the progress of proofs, and the orders of
-- electronic shoes; gaming hours; pay tables; series of chips; keys, drops and pits; simulations; audits of shoes; exact
-- values of games; practice of dealers; rules of alerts, and deliveries by channels.
REVOKE UPDATE, DELETE ON
    tables_houseshoe,
    tables_verification,
    tables_househours,
    tables_houseterms,
    tables_proposal,
    tables_proposalend,
    tables_paytable,
    tables_chipseries,
    tables_seriesretirement,
    tables_housekey,
    tables_dropschedule,
    tables_pitsection,
    tables_floorplan,
    tables_post,
    tables_pitcover,
    tables_limitplan,
    tables_lineup,
    tables_dayclose,
    tables_simulatedchunk,
    tables_shoeaudit,
    tables_keptsheet,
    tables_practice,
    tables_practiceanswer,
    tables_certificate,
    tables_alertrule,
    tables_alertchannel,
    tables_deliveryattempt,
    tables_resending,
    tables_alertrepeat,
    tables_feedsheet
FROM :"app_role";
-- Kinds of chips and tables are retired, and never deleted.
REVOKE DELETE ON tables_denomination, tables_table FROM :"app_role";
GRANT SELECT, INSERT ON
    ledger_logentry,
    ledger_transfer,
    ledger_account,
    ledger_recount,
    ledger_alert,
    ledger_acknowledgement,
    ledger_escalation,
    ledger_bookmark,
    ledger_bookroot,
    ledger_dayroot,
    ledger_headsrow,
    ledger_cosignature,
    ledger_slip,
    ledger_slipsignature,
    ledger_discrepancy,
    ledger_assignment,
    ledger_finding,
    ledger_run,
    ledger_runend
TO :"app_role";

-- The house's clock, by which every entry is dated.
GRANT EXECUTE ON FUNCTION ledger_now() TO :"app_role";

-- The pages of seats come and go, but none is given another address.
REVOKE UPDATE ON tables_seatpage FROM :"app_role";

-- Secrets of before stay: only the key that they are sealed with changes. A passkey is withdrawn, never deleted, and has
-- one public key.
REVOKE UPDATE, DELETE ON tables_secretversion, tables_passkey FROM :"app_role";
GRANT UPDATE (kept) ON tables_secretversion TO :"app_role";
GRANT UPDATE (sign_count, used_at, is_active) ON tables_passkey TO :"app_role";

-- Programs and their tokens stay: what a token is told by never changes.
REVOKE DELETE ON tables_serviceaccount FROM :"app_role";
REVOKE UPDATE, DELETE ON tables_servicetoken FROM :"app_role";
GRANT UPDATE (kept, until, used_at) ON tables_servicetoken TO :"app_role";

-- At a head office, what arrived of its sites is written once too. Pieces of bundles are the previous release's: the next
-- one drops their table. Without the app of a head office (HEAD_OFFICE_APP) these tables may be absent.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'office_house', 'office_pin', 'office_arrival', 'office_verdict', 'office_refusal', 'office_day',
        'office_tableday'
    ] LOOP
        IF to_regclass(name) IS NOT NULL THEN
            EXECUTE format('REVOKE UPDATE, DELETE ON %I FROM %I', name, current_setting('casino.app_role'));
        END IF;
    END LOOP;
    IF to_regclass('office_piece') IS NOT NULL THEN
        EXECUTE format('REVOKE INSERT, UPDATE ON office_piece FROM %I', current_setting('casino.app_role'));
    END IF;
END $$;

-- A book is never renamed; its head moves on with each entry.
GRANT SELECT, INSERT, UPDATE (head_seq, head_hash) ON ledger_book TO :"app_role";

-- What waits to be written in the house's book is never changed; the number of its entry is noted once, as a trigger
-- sees to.
GRANT SELECT, INSERT, UPDATE (seq) ON ledger_notice TO :"app_role";

-- A message that leaves the site is never changed; when and how often it was tried is.
REVOKE UPDATE, DELETE ON tables_delivery FROM :"app_role";
GRANT UPDATE (due_at, failures, asked_at) ON tables_delivery TO :"app_role";

-- Only the owner migrates.
REVOKE ALL ON django_migrations FROM :"app_role";
GRANT SELECT ON django_migrations TO :"app_role";
