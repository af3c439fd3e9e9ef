-- The work queue: one row an item. Fill factor leaves room, because every item is rewritten at least twice.
CREATE TABLE queue.work_items (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    lane text COLLATE "C" NOT NULL,
    origin text NOT NULL,
    target_id uuid,
    idempotency_key text COLLATE "C",
    request_id uuid,
    traceparent text,
    payload jsonb NOT NULL,
    priority smallint NOT NULL,
    available_at timestamptz NOT NULL,
    status text COLLATE "C" NOT NULL,
    claimed_by text,
    claim_token uuid,
    lease_expires_at timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    max_attempts integer NOT NULL,
    crashes integer NOT NULL DEFAULT 0,
    last_error text,
    error_code text,
    result jsonb,
    progress double precision,
    progress_note text,
    started_at timestamptz,
    settled_at timestamptz,
    cancel_requested_at timestamptz,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL,
    CONSTRAINT work_items_pkey PRIMARY KEY (org_id, id),
    CONSTRAINT work_items_status_known CHECK (status IN ('queued', 'claimed', 'done', 'failed', 'cancelled')),
    -- Infinite instants come back as ones that nothing can be compared with.
    CONSTRAINT work_items_available_finite CHECK (isfinite(available_at)),
    -- A token and a lease exist exactly while the item is claimed.
    CONSTRAINT work_items_claim_whole CHECK (
        (status = 'claimed') = (claim_token IS NOT NULL) AND (status = 'claimed') = (lease_expires_at IS NOT NULL)
    ),
    CONSTRAINT work_items_settled_dated CHECK (
        (status IN ('done', 'failed', 'cancelled')) = (settled_at IS NOT NULL)
    )
) WITH (fillfactor = 70);

-- A producer's key names one item of its tenant; items without a key pay nothing for it.
CREATE UNIQUE INDEX work_items_key ON queue.work_items (org_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- The claim's order. Settled and claimed rows are not in it; future rows are passed by the bound on available_at.
CREATE INDEX work_items_claim ON queue.work_items (lane, kind, priority DESC, available_at, id)
WHERE status = 'queued';

-- The sweep's: leases that have passed, however many rows the table has.
CREATE INDEX work_items_lease ON queue.work_items (lease_expires_at, org_id) WHERE status = 'claimed';

-- The purge's: a tenant's settled items, oldest first.
CREATE INDEX work_items_settled ON queue.work_items (org_id, settled_at) WHERE settled_at IS NOT NULL;

-- Dead letters, for gauges and operators.
CREATE INDEX work_items_failed ON queue.work_items (org_id, id) WHERE status = 'failed';

-- The second fence: forced, so that it also holds for the table's owner.
ALTER TABLE queue.work_items ENABLE ROW LEVEL SECURITY;
ALTER TABLE queue.work_items FORCE ROW LEVEL SECURITY;

-- Runtime sees the tenant that its transaction names, and nothing where it names none.
CREATE POLICY work_items_runtime ON queue.work_items TO headrace_runtime
USING (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid)
WITH CHECK (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid);

-- System sees every tenant while it names the system scope. A policy of its own, because the condition names
-- no column: the planner evaluates it once, and the claim's index scan stays what it is without a policy.
CREATE POLICY work_items_system ON queue.work_items TO headrace_system
USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);

GRANT SELECT, INSERT, UPDATE, DELETE ON queue.work_items TO headrace_runtime, headrace_system;
