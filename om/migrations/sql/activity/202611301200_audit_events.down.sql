-- The indexes, policies and grants go with the tables; the trail and the feed are lost.
DROP TABLE activity.events;
DROP TABLE activity.audit_entries;
