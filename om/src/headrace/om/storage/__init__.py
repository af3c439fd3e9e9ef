"""How the object model reaches its databases: roles and scopes, logins, engines, and the storage roots."""
