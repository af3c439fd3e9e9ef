-- The tenants. An org's id is the org_id of everything that it owns.
CREATE TABLE core.orgs (
    id uuid PRIMARY KEY,
    -- For display.
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL,
    -- When it was put away: it signs nobody in and runs no work from then on.
    deleted_at timestamptz
);

-- The purge looks for orgs that were put away long ago; the others are not in it.
CREATE INDEX orgs_deleted ON core.orgs (deleted_at) WHERE deleted_at IS NOT NULL;

-- Who acts. Users belong to the platform; a tenant sees those that are its members.
CREATE TABLE core.users (
    id uuid PRIMARY KEY,
    -- One on the whole platform.
    login_name text NOT NULL CHECK (char_length(login_name) BETWEEN 1 AND 100),
    -- For display.
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL
);

-- A login name is given once.
CREATE UNIQUE INDEX users_login_name_key ON core.users (login_name);

-- What a user is in an org.
CREATE TABLE core.memberships (
    id uuid PRIMARY KEY,
    org_id uuid NOT NULL REFERENCES core.orgs (id),
    -- Can be deferred: the policy of users admits a new user only once it is a member, so that comes first.
    user_id uuid NOT NULL CONSTRAINT memberships_user_id_fkey REFERENCES core.users (id) DEFERRABLE INITIALLY IMMEDIATE,
    -- The service role is the platform's own processes' alone.
    role text NOT NULL CHECK (role IN ('owner', 'member', 'viewer')),
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL
);

-- A user is a member of an org once; the claim, sign-in and the policy of users look here.
CREATE UNIQUE INDEX memberships_org_id_user_id_key ON core.memberships (org_id, user_id);

-- An org's members in pages.
CREATE INDEX memberships_org_id_id ON core.memberships (org_id, id);

-- The key to users, from the other side.
CREATE INDEX memberships_user_id ON core.memberships (user_id);

-- Credentials that sign in to one org.
CREATE TABLE core.api_keys (
    id uuid PRIMARY KEY,
    org_id uuid NOT NULL REFERENCES core.orgs (id),
    -- The member it acts for; the empty uuid is the org itself, so this is no foreign key.
    user_id uuid NOT NULL,
    -- For display.
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    -- The most it may do.
    role text NOT NULL CHECK (role IN ('owner', 'member', 'viewer')),
    -- SHA-256 of the secret, which nobody keeps.
    secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
    expires_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL
);

-- An org's keys in pages.
CREATE INDEX api_keys_org_id_id ON core.api_keys (org_id, id);

-- Policies decide for every login that is not exempt, and the owner is not.
ALTER TABLE core.orgs ENABLE ROW LEVEL SECURITY;
ALTER TABLE core.orgs FORCE ROW LEVEL SECURITY;

-- The runtime login sees the org that its transaction names, and no other.
CREATE POLICY orgs_runtime ON core.orgs TO headrace_runtime
USING (id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid)
WITH CHECK (id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid);

-- The system login sees every tenant, and only in the system scope.
CREATE POLICY orgs_system ON core.orgs TO headrace_system
USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);

GRANT SELECT, INSERT, UPDATE, DELETE ON core.orgs TO headrace_runtime, headrace_system;

-- Policies decide for every login that is not exempt, and the owner is not.
ALTER TABLE core.memberships ENABLE ROW LEVEL SECURITY;
ALTER TABLE core.memberships FORCE ROW LEVEL SECURITY;

-- The runtime login sees one tenant's memberships; naming none it sees nothing.
CREATE POLICY memberships_runtime ON core.memberships TO headrace_runtime
USING (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid)
WITH CHECK (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid);

-- The system login sees every tenant, and only in the system scope.
CREATE POLICY memberships_system ON core.memberships TO headrace_system
USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);

GRANT SELECT, INSERT, UPDATE, DELETE ON core.memberships TO headrace_runtime, headrace_system;

-- Policies decide for every login that is not exempt, and the owner is not.
ALTER TABLE core.users ENABLE ROW LEVEL SECURITY;
ALTER TABLE core.users FORCE ROW LEVEL SECURITY;

-- The runtime login sees the members of the tenant that its transaction names.
CREATE POLICY users_runtime ON core.users TO headrace_runtime
USING (EXISTS (
    SELECT 1 FROM core.memberships AS m
    WHERE m.user_id = users.id AND m.org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid
))
WITH CHECK (EXISTS (
    SELECT 1 FROM core.memberships AS m
    WHERE m.user_id = users.id AND m.org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid
));

-- The system login sees every tenant, and only in the system scope.
CREATE POLICY users_system ON core.users TO headrace_system
USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);

GRANT SELECT, INSERT, UPDATE, DELETE ON core.users TO headrace_runtime, headrace_system;

-- Policies decide for every login that is not exempt, and the owner is not.
ALTER TABLE core.api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE core.api_keys FORCE ROW LEVEL SECURITY;

-- The runtime login sees one tenant's keys; naming none it sees nothing.
CREATE POLICY api_keys_runtime ON core.api_keys TO headrace_runtime
USING (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid)
WITH CHECK (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid);

-- The system login sees every tenant, and only in the system scope.
CREATE POLICY api_keys_system ON core.api_keys TO headrace_system
USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);

GRANT SELECT, INSERT, UPDATE, DELETE ON core.api_keys TO headrace_runtime, headrace_system;
