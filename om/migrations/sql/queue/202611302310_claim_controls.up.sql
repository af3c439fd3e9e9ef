-- What bounds, paces and pauses claims: one row for each thing that is said about a lane, a kind, an org or keys.
-- Parts of the name that a row does not use are empty: '' and the empty uuid, which for scope org means each org.
CREATE TABLE queue.work_controls (
    what text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    lane text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    org_id uuid NOT NULL,
    -- A limit: how many live claims at most.
    max_running integer,
    -- A rate: the bucket fills by this many a second up to the burst; what was in it, and when.
    per_second double precision,
    burst integer,
    tokens double precision,
    filled_at timestamptz,
    origin text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT work_controls_pkey PRIMARY KEY (what, scope, lane, kind, org_id),
    CONSTRAINT work_controls_known CHECK (
        (what = 'limit' AND scope IN ('kind', 'org', 'key') AND max_running >= 1)
        OR (
            what = 'rate' AND scope = 'kind' AND per_second > 0 AND burst >= 1
            AND tokens IS NOT NULL AND filled_at IS NOT NULL
        )
        OR (what = 'pause' AND scope IN ('lane', 'kind', 'org'))
    )
) WITH (fillfactor = 50);

-- The platform's alone: a claim reads it across tenants, and without a policy runtime sees none of it.
ALTER TABLE queue.work_controls ENABLE ROW LEVEL SECURITY;
ALTER TABLE queue.work_controls FORCE ROW LEVEL SECURITY;
CREATE POLICY work_controls_system ON queue.work_controls TO headrace_system
USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON queue.work_controls TO headrace_runtime, headrace_system;

-- The transaction that last took items, or changed a control, under the gate's lock. A sequence, because its value is
-- read as it is now and not as of a snapshot, and because it leaves no dead rows behind.
CREATE SEQUENCE queue.work_gate AS bigint MINVALUE 1 START WITH 1 NO CYCLE;
GRANT SELECT, UPDATE ON SEQUENCE queue.work_gate TO headrace_system;

-- New columns whose defaults are constants rewrite nothing.
-- turn: whose turn among the claims the item waits for; null until it is due. line: a digest of its key, 0 without one.
ALTER TABLE queue.work_items
ADD COLUMN concurrency_key text COLLATE "C",
ADD COLUMN ordering_key text COLLATE "C",
ADD COLUMN turn uuid,
ADD COLUMN line bigint NOT NULL DEFAULT 0;
