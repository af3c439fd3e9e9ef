"""The runtime that owns a worker process and knows nothing of the work done in it."""
