"""The small HTTP surface of a worker process: metrics and probes, nothing else."""
