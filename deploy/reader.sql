-- What the role may do that reports and files are read with from a replica (docs/replica.md): read, and not everything.
-- Run by the owner of the tables on the primary, after each migration: psql -v reader_role=casino_reader -f deploy/reader.sql

REVOKE ALL ON ALL TABLES IN SCHEMA public FROM :"reader_role";
GRANT USAGE ON SCHEMA public TO :"reader_role";
GRANT SELECT ON ALL TABLES IN SCHEMA public TO :"reader_role";
GRANT EXECUTE ON FUNCTION ledger_now() TO :"reader_role";

-- No report needs sessions, the orders of live shoes, hashes of before, tokens, passkeys, codes or tries at secrets.
REVOKE ALL ON django_session, tables_houseshoe, tables_secretversion, tables_servicetoken, tables_seatpage, tables_passkey,
    tables_emergencycode, tables_onetimecode, tables_attemptcount
FROM :"reader_role";
