-- What happened that somebody may ask about later. Entries are appended and never changed.
CREATE TABLE activity.audit_entries (
    -- The tenant; the empty uuid is the platform itself.
    org_id uuid NOT NULL,
    -- Version 7, so that the newest entry has the greatest.
    id uuid NOT NULL,
    -- What was done, such as work.dead_letter.
    action text NOT NULL CHECK (char_length(action) BETWEEN 1 AND 100),
    -- What it was done to.
    target_type text NOT NULL CHECK (char_length(target_type) BETWEEN 1 AND 100),
    target_id uuid NOT NULL,
    -- The request that did it.
    request_id uuid NOT NULL,
    -- Ids and numbers, never personal values.
    details jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    PRIMARY KEY (org_id, id)
);

-- The history of one record, newest first.
CREATE INDEX audit_entries_org_id_target_id_id ON activity.audit_entries (org_id, target_id, id);

-- The feed of entity changes, appended by the outbox relay.
CREATE TABLE activity.events (
    -- The tenant; the empty uuid is the platform itself.
    org_id uuid NOT NULL,
    -- The outbox row that it comes from, so that relaying twice leaves one; version 7, so that it orders the feed.
    id uuid NOT NULL,
    -- What sort of record changed, which one, and how.
    entity text NOT NULL CHECK (char_length(entity) BETWEEN 1 AND 100),
    entity_id uuid NOT NULL,
    change text NOT NULL CHECK (char_length(change) BETWEEN 1 AND 100),
    -- The request that changed it.
    request_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    PRIMARY KEY (org_id, id)
);

-- Policies decide for every login that is not exempt, and the owner is not.
ALTER TABLE activity.audit_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE activity.audit_entries FORCE ROW LEVEL SECURITY;

-- The runtime login sees one tenant's entries; naming none, or the system scope, it sees nothing.
CREATE POLICY audit_entries_runtime ON activity.audit_entries TO headrace_runtime
USING (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid)
WITH CHECK (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid);

-- The system login sees every tenant, and only in the system scope.
CREATE POLICY audit_entries_system ON activity.audit_entries TO headrace_system
USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);

-- Appending is all there is: nobody is granted a change or a removal.
GRANT SELECT, INSERT ON activity.audit_entries TO headrace_runtime, headrace_system;

-- Policies decide for every login that is not exempt, and the owner is not.
ALTER TABLE activity.events ENABLE ROW LEVEL SECURITY;
ALTER TABLE activity.events FORCE ROW LEVEL SECURITY;

-- The runtime login sees one tenant's events; naming none, or the system scope, it sees nothing.
CREATE POLICY events_runtime ON activity.events TO headrace_runtime
USING (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid)
WITH CHECK (org_id = NULLIF(NULLIF(current_setting('app.org_id', TRUE), ''), '00000000-0000-0000-0000-000000000000')::uuid);

-- The system login sees every tenant, and only in the system scope.
CREATE POLICY events_system ON activity.events TO headrace_system
USING (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid)
WITH CHECK (NULLIF(current_setting('app.org_id', TRUE), '')::uuid = '00000000-0000-0000-0000-000000000000'::uuid);

-- Appending is all there is: nobody is granted a change or a removal.
GRANT SELECT, INSERT ON activity.events TO headrace_runtime, headrace_system;
