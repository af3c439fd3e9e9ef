-- Run outside of any transaction, as the way up.
CREATE INDEX CONCURRENTLY IF NOT EXISTS work_items_claim ON queue.work_items
(lane, kind, priority DESC, available_at, id)
WHERE status = 'queued';
DROP INDEX CONCURRENTLY IF EXISTS queue.work_items_running;
DROP INDEX CONCURRENTLY IF EXISTS queue.work_items_order;
DROP INDEX CONCURRENTLY IF EXISTS queue.work_items_keyed;
DROP INDEX CONCURRENTLY IF EXISTS queue.work_items_waiting;
DROP INDEX CONCURRENTLY IF EXISTS queue.work_items_due;
