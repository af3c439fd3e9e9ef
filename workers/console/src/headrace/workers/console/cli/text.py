"""Text as a terminal may show it, whoever wrote it."""

from typing import Final

ZERO_WIDTH_JOINER: Final = "\u200d"


def visible(text: str) -> str:
    r"""Return the text with everything that a terminal would act on, or not show, written out as an escape.

    Control characters, line ends, marks that turn the writing direction and halves of surrogate pairs become
    `\x1b`, `\n`, `\u202e`, `\ud800`.
    """
    return "".join(map(_shown, text))


def visible_lines(text: str) -> str:
    """Return the text likewise, its line ends and tabs kept."""
    return "\n".join(visible(line.replace("\t", "    ")) for line in text.split("\n"))


def _shown(character: str) -> str:
    # The joiner makes one picture of several, and turns nothing around.
    if character.isprintable() or character == ZERO_WIDTH_JOINER:
        return character
    return character.encode("unicode_escape").decode("ascii")
