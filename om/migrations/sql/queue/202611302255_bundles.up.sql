-- Bundles: one row each, rewritten with every item that settles. Half of each page stays free, so that counting
-- moves no index entry.
CREATE TABLE queue.work_bundles (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    origin text NOT NULL,
    request_id uuid,
    traceparent text,
    -- What is enqueued once when the last item has settled, and the id of the item that this became.
    on_settled jsonb,
    follow_up_id uuid,
    num_items integer NOT NULL,
    num_done integer NOT NULL DEFAULT 0,
    num_failed integer NOT NULL DEFAULT 0,
    num_cancelled integer NOT NULL DEFAULT 0,
    status text COLLATE "C" NOT NULL,
    settled_at timestamptz,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL,
    CONSTRAINT work_bundles_pkey PRIMARY KEY (org_id, id),
    CONSTRAINT work_bundles_status_known CHECK (status IN ('open', 'settled')),
    CONSTRAINT work_bundles_settled_dated CHECK ((status = 'settled') = (settled_at IS NOT NULL)),
    -- No check on the counters: one that had drifted would keep its items from ever being settled.
    CONSTRAINT work_bundles_not_empty CHECK (num_items > 0)
) WITH (fillfactor = 50);

-- The purge's: a tenant's settled bundles, oldest first.
CREATE INDEX work_bundles_settled ON queue.work_bundles (org_id, settled_at) WHERE settled_at IS NOT NULL;

-- The second fence: forced, so that it also holds for the table's owner.
ALTER TABLE queue.work_bundles ENABLE ROW LEVEL SECURITY;
ALTER TABLE queue.work_bundles FORCE ROW LEVEL SECURITY;

-- As for work_items: runtime sees the tenant that its transaction names, system every tenant under the system scope.
CREATE POLICY work_bundles_runtime ON queue.work_bundles TO headrace_runtime
USING (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid)
WITH CHECK (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid);
CREATE POLICY work_bundles_system ON queue.work_bundles TO headrace_system
USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);

GRANT SELECT, INSERT, UPDATE, DELETE ON queue.work_bundles TO headrace_runtime, headrace_system;

-- New columns without defaults rewrite nothing.
-- unique_for: the payload fields in which no two unsettled items of a kind may agree; unique_hash: what they say.
-- settlement_id: which settlement ended the last claim, so that one whose answer was lost is known when it comes again.
ALTER TABLE queue.work_items
ADD COLUMN bundle_id uuid,
ADD COLUMN unique_for text [] COLLATE "C",
ADD COLUMN unique_hash uuid,
ADD COLUMN settlement_id uuid;
