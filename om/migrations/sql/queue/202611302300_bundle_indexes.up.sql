-- squawk-ignore-file ban-concurrent-index-creation-in-transaction
-- Run outside of any transaction: the table is in use.

-- Two unsettled items of a tenant that agree in what they are unique for: the second is reported, as with a key.
-- Claims and requeues leave an item in this index, so only an enqueue and a retry can meet somebody else's entry.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS work_items_unique ON queue.work_items (org_id, unique_hash)
WHERE unique_hash IS NOT NULL AND status IN ('queued', 'claimed');

-- A bundle's items, for whoever lists or deletes them; items without a bundle pay nothing.
CREATE INDEX CONCURRENTLY IF NOT EXISTS work_items_bundle ON queue.work_items (org_id, bundle_id, id)
WHERE bundle_id IS NOT NULL;
