-- Run outside of any transaction, as the way up.
CREATE INDEX CONCURRENTLY IF NOT EXISTS work_items_order ON queue.work_items
(org_id, ordering_key, (status <> 'claimed'), (started_at IS NULL), available_at, id)
WHERE ordering_key IS NOT NULL AND status IN ('queued', 'claimed') AND (started_at IS NOT NULL OR turn IS NOT NULL);
DROP INDEX CONCURRENTLY IF EXISTS queue.work_items_in_order;
