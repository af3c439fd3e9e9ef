-- squawk-ignore-file ban-concurrent-index-creation-in-transaction
-- Run outside of any transaction: the table is in use.
-- Who stands at the head of an ordering key: who is claimed, then who was begun, then who became due first, whether a
-- claim has given it a turn by now or not. Those that are not due stand behind.
CREATE INDEX CONCURRENTLY IF NOT EXISTS work_items_in_order ON queue.work_items
(org_id, ordering_key, (status <> 'claimed'), (started_at IS NULL), available_at, id)
WHERE ordering_key IS NOT NULL AND status IN ('queued', 'claimed');

-- Replaced by it.
DROP INDEX CONCURRENTLY IF EXISTS queue.work_items_order;
