-- squawk-ignore-file ban-concurrent-index-creation-in-transaction
-- Run outside of any transaction: the table is in use.

-- The claim's: items whose time has come, by whose turn they wait for. Settled, claimed and future items are not in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS work_items_due ON queue.work_items
(lane, kind, turn, line, priority DESC, available_at, id)
WHERE status = 'queued' AND turn IS NOT NULL;

-- Items that are not due yet, or that became due and were not given a turn so far, the earliest first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS work_items_waiting ON queue.work_items (lane, kind, available_at, id)
WHERE status = 'queued' AND turn IS NULL;

-- Whether a lane holds due items with a key at all; items without one pay nothing.
CREATE INDEX CONCURRENTLY IF NOT EXISTS work_items_keyed ON queue.work_items (lane, kind, available_at)
WHERE status = 'queued' AND turn IS NOT NULL AND line <> 0;

-- Who stands at the head of an ordering key: who is claimed, then who was begun, then who became due first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS work_items_order ON queue.work_items
(org_id, ordering_key, (status <> 'claimed'), (started_at IS NULL), available_at, id)
WHERE ordering_key IS NOT NULL AND status IN ('queued', 'claimed') AND (started_at IS NOT NULL OR turn IS NOT NULL);

-- How many of a concurrency key are running.
CREATE INDEX CONCURRENTLY IF NOT EXISTS work_items_running ON queue.work_items
(org_id, concurrency_key, lease_expires_at)
WHERE status = 'claimed' AND concurrency_key IS NOT NULL;

-- Replaced by the first two.
DROP INDEX CONCURRENTLY IF EXISTS queue.work_items_claim;
