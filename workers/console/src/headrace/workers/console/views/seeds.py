"""How a seeded org looks."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.workers.console.cli.screen import Fields

if TYPE_CHECKING:
    from headrace.workers.console.actions.seeding import Seeded


def seeded_document(seeded: "Seeded", store: Path | None) -> dict[str, Any]:
    """Return what stands as a document; the token is in it only where it is new and not stored."""
    shows_token = seeded.is_new_key and store is None
    return {
        "org_id": str(seeded.org_id),
        "is_new_org": seeded.is_new_org,
        "is_new_key": seeded.is_new_key,
        "token": seeded.token.get_secret_value() if shows_token else None,
        "stored_in": None if store is None else str(store),
    }


def seeded_fields(seeded: "Seeded", store: Path | None) -> Fields:
    """Return what stands for people."""
    org = f"{seeded.org_id} ({'new' if seeded.is_new_org else 'was there already'})"
    return Fields([("org", org), ("API key", _key(seeded, store))])


def _key(seeded: "Seeded", store: Path | None) -> str:
    if store is not None:
        return f"stored as HEADRACE_API_KEY in {store}"
    if not seeded.is_new_key:
        return "the one of HEADRACE_API_KEY still signs in"
    return f"{seeded.token.get_secret_value()} (shown this once)"
