-- Side effects that core writes asked for in their own transaction, until the relay has carried them on.
CREATE TABLE core.outbox_rows (
    -- The tenant; the empty uuid is the platform itself.
    org_id uuid NOT NULL,
    -- The key of whatever the row leads to, so that relaying it twice leaves one effect.
    id uuid NOT NULL,
    -- entity.changed, or work.<kind>.
    kind text NOT NULL CHECK (char_length(kind) BETWEEN 1 AND 100),
    -- Ids and settings of the effect, never personal values.
    payload jsonb NOT NULL CHECK (jsonb_typeof(payload) = 'object'),
    -- Who asked.
    actor_id uuid NOT NULL,
    -- The request that asked.
    request_id uuid NOT NULL,
    -- The trace that the request was part of.
    traceparent text CHECK (char_length(traceparent) <= 128),
    -- When the writer says that it happened: within the years that every reader has, so finite too.
    created_at timestamptz NOT NULL
        CHECK (created_at BETWEEN '1970-01-01 00:00:00+00'::timestamptz AND '9000-01-01 00:00:00+00'::timestamptz),
    -- When the row came in, on this server's clock: the relay's lag is measured from here.
    recorded_at timestamptz NOT NULL DEFAULT now(),
    -- No relay takes the row before this instant: it is on hold with one, or waits after a failure.
    available_at timestamptz NOT NULL DEFAULT now(),
    -- How often relaying it failed.
    num_failures integer NOT NULL DEFAULT 0,
    -- What the last failure said.
    last_error text,
    -- When its side effects had happened.
    done_at timestamptz,
    -- An id means nothing outside its tenant.
    PRIMARY KEY (org_id, id)
);

-- The relay takes what is due, oldest first; done rows are not in it, held and waiting ones are behind its range.
CREATE INDEX outbox_rows_due ON core.outbox_rows (available_at, id) WHERE done_at IS NULL;

-- The relay steps along this from tenant to tenant and gives each its share of a pass, whatever another's burst.
CREATE INDEX outbox_rows_due_by_org ON core.outbox_rows (org_id, available_at, id) WHERE done_at IS NULL;

-- The gauges read the oldest pending row at one end of this.
CREATE INDEX outbox_rows_pending ON core.outbox_rows (recorded_at) WHERE done_at IS NULL;

-- The purge reads done rows, oldest first.
CREATE INDEX outbox_rows_done ON core.outbox_rows (done_at) WHERE done_at IS NOT NULL;

-- Rows live for seconds and are then dead weight, so vacuum comes after few of them.
ALTER TABLE core.outbox_rows SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);

-- Policies decide for every login that is not exempt.
ALTER TABLE core.outbox_rows ENABLE ROW LEVEL SECURITY;

-- The owner is not exempt either.
ALTER TABLE core.outbox_rows FORCE ROW LEVEL SECURITY;

-- The runtime login sees one tenant; naming none, or the system scope, it sees nothing.
CREATE POLICY outbox_rows_runtime ON core.outbox_rows TO headrace_runtime
    USING (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid)
    WITH CHECK (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid);

-- The system login sees every tenant, and only in the system scope.
CREATE POLICY outbox_rows_system ON core.outbox_rows TO headrace_system
    USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
    WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);

-- Both logins read and write rows and own nothing.
GRANT SELECT, INSERT, UPDATE, DELETE ON core.outbox_rows TO headrace_runtime, headrace_system;
