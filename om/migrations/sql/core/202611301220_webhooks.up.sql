-- Where tenants want to hear of their events.
CREATE TABLE core.webhook_endpoints (
    -- The tenant.
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    -- For display.
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    -- https or http, without credentials; where it leads is checked at every delivery.
    url text NOT NULL CHECK (char_length(url) BETWEEN 1 AND 2048),
    -- Names the signing secret in a store; never the secret.
    secret_reference text NOT NULL CHECK (char_length(secret_reference) BETWEEN 1 AND 200),
    -- Which events; empty means all.
    event_types text [] NOT NULL CHECK (cardinality(event_types) <= 100),
    enabled boolean NOT NULL,
    -- Why it was disabled, for people.
    disabled_reason text CHECK (char_length(disabled_reason) <= 500),
    -- Grows with every write, each of which names the one before it.
    version bigint NOT NULL CHECK (version >= 1),
    -- Failed attempts since the last success.
    num_consecutive_failures integer NOT NULL CHECK (num_consecutive_failures >= 0),
    -- The first of them, on this server's clock.
    failing_since timestamptz,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL,
    -- A tenant's endpoints are read by id and in pages; it has a few hundred at most.
    PRIMARY KEY (org_id, id)
);

-- Events that tenants told; never changed.
CREATE TABLE core.webhook_messages (
    -- The tenant.
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    -- Lowercase words joined by dots.
    event_type text NOT NULL CHECK (char_length(event_type) BETWEEN 1 AND 100),
    -- JSON as the publisher wrote it: signatures cover these bytes, which jsonb would not keep.
    body text NOT NULL CHECK (octet_length(body) <= 1048576),
    -- The body's size, for lists that do not read it.
    body_bytes integer NOT NULL CHECK (body_bytes >= 0),
    -- How many endpoints it was addressed to.
    num_deliveries integer NOT NULL CHECK (num_deliveries >= 0),
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    -- When it came in, on this server's clock: its retention is measured from here.
    recorded_at timestamptz NOT NULL DEFAULT now(),
    -- A tenant's messages are read by id and in pages.
    PRIMARY KEY (org_id, id)
);

-- The purge reads a tenant's messages, oldest first.
CREATE INDEX webhook_messages_recorded ON core.webhook_messages (org_id, recorded_at);

-- Policies decide for every login that is not exempt, and the owner is not.
ALTER TABLE core.webhook_endpoints ENABLE ROW LEVEL SECURITY;
ALTER TABLE core.webhook_endpoints FORCE ROW LEVEL SECURITY;

-- The runtime login sees one tenant's endpoints; naming none, or the system scope, it sees nothing.
CREATE POLICY webhook_endpoints_runtime ON core.webhook_endpoints TO headrace_runtime
USING (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid)
WITH CHECK (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid);

-- The system login sees every tenant, and only in the system scope.
CREATE POLICY webhook_endpoints_system ON core.webhook_endpoints TO headrace_system
USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);

-- Both logins read and write rows and own nothing.
GRANT SELECT, INSERT, UPDATE, DELETE ON core.webhook_endpoints TO headrace_runtime, headrace_system;

-- Policies decide for every login that is not exempt, and the owner is not.
ALTER TABLE core.webhook_messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE core.webhook_messages FORCE ROW LEVEL SECURITY;

-- The runtime login sees one tenant's messages; naming none, or the system scope, it sees nothing.
CREATE POLICY webhook_messages_runtime ON core.webhook_messages TO headrace_runtime
USING (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid)
WITH CHECK (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid);

-- The system login sees every tenant, and only in the system scope.
CREATE POLICY webhook_messages_system ON core.webhook_messages TO headrace_system
USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);

-- Both logins read and write rows and own nothing.
GRANT SELECT, INSERT, UPDATE, DELETE ON core.webhook_messages TO headrace_runtime, headrace_system;
