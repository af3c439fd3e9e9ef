-- The indexes, policies and grants go with the table; rows that were not relayed are lost.
DROP TABLE core.outbox_rows;
