-- The indexes, policies and grants go with the tables; messages that were published are lost.
DROP TABLE core.webhook_messages;

-- Deliveries on their way find no endpoint and are refused.
DROP TABLE core.webhook_endpoints;
