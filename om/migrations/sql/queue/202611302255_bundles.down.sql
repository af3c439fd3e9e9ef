ALTER TABLE queue.work_items
DROP COLUMN IF EXISTS settlement_id,
DROP COLUMN IF EXISTS unique_hash,
DROP COLUMN IF EXISTS unique_for,
DROP COLUMN IF EXISTS bundle_id;

-- The policies, indexes and grants go with the table.
DROP TABLE IF EXISTS queue.work_bundles;
