"""What a generated worker consists of: the texts of its files, and its lines in the lists that all workers share."""

from headrace.tools.new_worker.rendering.edits import worker_edits
from headrace.tools.new_worker.rendering.payload_field import PayloadField
from headrace.tools.new_worker.rendering.payload_grammar import parse_payload
from headrace.tools.new_worker.rendering.worker import render_worker, sample_json

__all__ = ["PayloadField", "parse_payload", "render_worker", "sample_json", "worker_edits"]
