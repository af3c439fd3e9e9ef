-- Run outside of any transaction, as the way up.
DROP INDEX CONCURRENTLY IF EXISTS queue.work_items_bundle;
DROP INDEX CONCURRENTLY IF EXISTS queue.work_items_unique;
