-- The policies, indexes and grants go with the table.
DROP TABLE IF EXISTS queue.work_schedules;
