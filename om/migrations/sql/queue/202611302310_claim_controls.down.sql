ALTER TABLE queue.work_items
DROP COLUMN IF EXISTS line,
DROP COLUMN IF EXISTS turn,
DROP COLUMN IF EXISTS ordering_key,
DROP COLUMN IF EXISTS concurrency_key;

DROP SEQUENCE IF EXISTS queue.work_gate;

-- The policy and the grants go with the table.
DROP TABLE IF EXISTS queue.work_controls;
