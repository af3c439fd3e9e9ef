-- Schedules: one row each, rewritten with every tick. Half of each page stays free for that; the index on the tick that
-- is waited for moves with it all the same.
CREATE TABLE queue.work_schedules (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    payload jsonb NOT NULL,
    lane text COLLATE "C" NOT NULL,
    priority smallint NOT NULL,
    max_attempts integer,
    -- The timing: an expression and whose clock it goes by, or a length and where it is counted from.
    cron text,
    time_zone text NOT NULL,
    every interval,
    anchor_at timestamptz,
    missed text COLLATE "C" NOT NULL,
    missed_after interval NOT NULL,
    overlap text COLLATE "C" NOT NULL,
    is_enabled boolean NOT NULL,
    -- The tick that is waited for: who moves it on, from the very value that they saw, has fired it.
    next_fire_at timestamptz,
    last_fired_at timestamptz,
    last_error text,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL,
    CONSTRAINT work_schedules_pkey PRIMARY KEY (org_id, id),
    CONSTRAINT work_schedules_name UNIQUE (org_id, name),
    CONSTRAINT work_schedules_one_timing CHECK ((cron IS NULL) <> (every IS NULL)),
    CONSTRAINT work_schedules_missed_known CHECK (missed IN ('skip', 'one', 'all')),
    CONSTRAINT work_schedules_overlap_known CHECK (overlap IN ('allow', 'skip')),
    CONSTRAINT work_schedules_disabled_waits_for_none CHECK (is_enabled OR next_fire_at IS NULL)
) WITH (fillfactor = 50);

-- Every pass's: what has come, and what comes next, over all tenants.
CREATE INDEX work_schedules_waiting ON queue.work_schedules (next_fire_at) WHERE next_fire_at IS NOT NULL;

-- The second fence: forced, so that it also holds for the table's owner.
ALTER TABLE queue.work_schedules ENABLE ROW LEVEL SECURITY;
ALTER TABLE queue.work_schedules FORCE ROW LEVEL SECURITY;

-- As for work_items: runtime sees the tenant that its transaction names, system every tenant under the system scope.
CREATE POLICY work_schedules_runtime ON queue.work_schedules TO headrace_runtime
USING (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid)
WITH CHECK (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid);
CREATE POLICY work_schedules_system ON queue.work_schedules TO headrace_system
USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);

GRANT SELECT, INSERT, UPDATE, DELETE ON queue.work_schedules TO headrace_runtime, headrace_system;
