-- Makes the three logins, or gives them their passwords where they exist, and opens the database to them alone.
-- For an administrator who may create roles and owns the database; need not be superuser (a managed server has none).
-- The passwords come from the environment, under the names that the processes read them by:
--
--   HEADRACE_DATABASE_MIGRATION_PASSWORD=... HEADRACE_DATABASE_RUNTIME_PASSWORD=... HEADRACE_DATABASE_SYSTEM_PASSWORD=... \
--     psql --no-psqlrc --quiet --file=logins.sql URL
--
-- Needs psql 15 or later. Safe to run again: that is how passwords are changed.
\set ON_ERROR_STOP on
\getenv migration_password HEADRACE_DATABASE_MIGRATION_PASSWORD
\getenv runtime_password HEADRACE_DATABASE_RUNTIME_PASSWORD
\getenv system_password HEADRACE_DATABASE_SYSTEM_PASSWORD
BEGIN;

SELECT format('CREATE ROLE %I LOGIN', name)
FROM unnest(ARRAY['headrace_migration', 'headrace_runtime', 'headrace_system']) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name)
\gexec

ALTER ROLE headrace_migration PASSWORD :'migration_password';
ALTER ROLE headrace_runtime PASSWORD :'runtime_password';
ALTER ROLE headrace_system PASSWORD :'system_password';

REVOKE ALL ON DATABASE :"DBNAME" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"DBNAME" TO headrace_migration, headrace_runtime, headrace_system;
GRANT CREATE ON DATABASE :"DBNAME" TO headrace_migration;

-- A login that policies do not hold for would see every tenant: better no logins than such ones.
DO $$
BEGIN
  IF EXISTS (
    SELECT FROM pg_roles
    WHERE rolname IN ('headrace_migration', 'headrace_runtime', 'headrace_system') AND (rolsuper OR rolbypassrls)
  ) THEN
    RAISE 'a login is superuser or bypasses row-level security; nothing was changed';
  END IF;
END
$$;

COMMIT;
