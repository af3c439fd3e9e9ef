"""The same workloads for other queues over PostgreSQL, each in an environment of its own that is thrown away."""
