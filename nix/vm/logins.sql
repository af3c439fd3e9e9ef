-- The three logins to the database that this runs in, as a superuser; @LOGIN@ stands for each one's password.
-- Migrations grant them what they need within the schemas; here is what only a superuser may do.
CREATE ROLE headrace_migration LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD '@migration@';
CREATE ROLE headrace_runtime LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD '@runtime@';
CREATE ROLE headrace_system LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD '@system@';
-- The scope of statements across tenants.
ALTER ROLE headrace_system SET app.org_id = '00000000-0000-0000-0000-000000000000';
REVOKE ALL ON DATABASE headrace FROM PUBLIC;
GRANT CONNECT ON DATABASE headrace TO headrace_migration, headrace_runtime, headrace_system;
GRANT CREATE ON DATABASE headrace TO headrace_migration;
