"""The public names: sorted, complete, documented, and found under the package itself."""

from __future__ import annotations

import inspect

import pytest

import modulog

PROMISED = {"IRI", "Reasoner", "__version__", "errors", "parse_program"}
"""Names that users and the manual rely on."""


def test_all_is_sorted_and_without_repetition() -> None:
    """Constants and acronyms first, then classes, then the rest: the order that the linter keeps."""
    names = set(modulog.__all__)
    ordered = sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert list(modulog.__all__) == ordered


def test_all_is_complete() -> None:
    """What the package defines or imports of ours is public, and so is what it promises."""
    ours = {n for n, v in vars(modulog).items() if str(getattr(v, "__module__", "")).startswith("modulog")}
    assert {n for n in ours if not n.startswith("_")} <= set(modulog.__all__)
    assert set(modulog.__all__) >= PROMISED


def test_dir_lists_public_names() -> None:
    assert set(modulog.__all__) <= set(dir(modulog))


@pytest.mark.parametrize("name", modulog.__all__)
def test_name_exists_and_is_documented(name: str) -> None:
    value = getattr(modulog, name)
    if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value):
        assert inspect.getdoc(value), f"{name} has no docstring"


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(modulog, "no_such_name")  # noqa: B009
