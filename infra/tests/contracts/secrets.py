"""What every secret store does; subclasses give ``store`` (empty), ``plant`` and the ``scheme``."""

from collections.abc import Callable

import pytest

from headrace.infra.exceptions import SecretNotFound
from headrace.infra.secrets import SecretsInterface

HIDDEN = "not-for-your-eyes"


class SecretsContract:
    async def test_a_value_is_read_when_it_is_there(
        self, store: SecretsInterface, plant: Callable[[str, str], None], scheme: str
    ) -> None:
        plant("Signing_key-1.v2", HIDDEN)
        assert (await store.get(f"{scheme}:Signing_key-1.v2")).get_secret_value() == HIDDEN

    async def test_a_value_is_not_shown_when_printed(
        self, store: SecretsInterface, plant: Callable[[str, str], None], scheme: str
    ) -> None:
        plant("name", HIDDEN)
        secret = await store.get(f"{scheme}:name")
        assert HIDDEN not in f"{secret} {secret!r}"

    async def test_the_new_value_is_read_when_it_was_changed(
        self, store: SecretsInterface, plant: Callable[[str, str], None], scheme: str
    ) -> None:
        plant("name", "old")
        await store.get(f"{scheme}:name")
        plant("name", "new")
        assert (await store.get(f"{scheme}:name")).get_secret_value() == "new"

    async def test_the_reference_is_named_when_nothing_is_there(self, store: SecretsInterface, scheme: str) -> None:
        with pytest.raises(SecretNotFound, match=f"secret {scheme}:missing cannot be found"):
            await store.get(f"{scheme}:missing")

    async def test_an_empty_value_counts_as_missing(
        self, store: SecretsInterface, plant: Callable[[str, str], None], scheme: str
    ) -> None:
        plant("name", "")
        with pytest.raises(SecretNotFound):
            await store.get(f"{scheme}:name")

    async def test_the_scheme_is_refused_when_the_store_does_not_serve_it(self, store: SecretsInterface) -> None:
        with pytest.raises(SecretNotFound, match="secret vault:name cannot be found"):
            await store.get("vault:name")

    @pytest.mark.parametrize(
        "name", ["", ".", "..", "../name", "a/b", "/etc/passwd", ".hidden", "nul\0", "é", "a\n", "x" * 101, " a"]
    )
    async def test_a_name_is_refused_when_it_could_lead_out_of_the_store(
        self, store: SecretsInterface, scheme: str, name: str
    ) -> None:
        with pytest.raises(SecretNotFound, match="must look like scheme:name"):
            await store.get(f"{scheme}:{name}")

    async def test_a_value_is_not_repeated_when_it_was_taken_for_a_reference(self, store: SecretsInterface) -> None:
        with pytest.raises(SecretNotFound) as caught:
            await store.get(HIDDEN)
        assert HIDDEN not in str(caught.value)

    def test_the_description_is_one_line(self, store: SecretsInterface) -> None:
        assert len(store.describe().splitlines()) == 1
