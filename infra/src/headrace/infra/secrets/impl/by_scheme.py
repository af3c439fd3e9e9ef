"""Several secret stores behind one interface."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import override

from pydantic import SecretStr

from headrace.infra.exceptions import SecretNotFound
from headrace.infra.secrets import REFERENCE, SecretsInterface


class SecretsBySchemeImpl(SecretsInterface):
    """Passes each reference to the store of its scheme.

    Args:
        stores: Scheme, such as ``env``, to store.
    """

    def __init__(self, stores: Mapping[str, SecretsInterface]) -> None:
        self._stores = MappingProxyType(dict(stores))

    @override
    async def get(self, reference: str) -> SecretStr:
        match = REFERENCE.fullmatch(reference)
        if match is None:
            raise SecretNotFound("a secret reference must look like scheme:name")
        store = self._stores.get(match["scheme"])
        if store is None:
            raise SecretNotFound(f"secret {reference} cannot be found: schemes served are {', '.join(self._stores)}")
        return await store.get(reference)

    @override
    def describe(self) -> str:
        return "; ".join(f"{scheme}: {store.describe()}" for scheme, store in self._stores.items())
