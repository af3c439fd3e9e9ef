"""The payload models, one module for each kind; `payload_models` finds them by looking into this package."""
