-- The policy of users reads memberships, so it goes before that table does.
DROP POLICY users_runtime ON core.users;

-- The indexes, the other policies and the grants go with the tables; orgs, members and keys are lost.
DROP TABLE core.api_keys;
DROP TABLE core.memberships;
DROP TABLE core.users;
DROP TABLE core.orgs;
