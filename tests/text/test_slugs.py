"""Slugs (S3-28)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowbase.text.slugs import slugify, unique_slugs


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Detailed design", "detailed-design"),
        ("  C++ & Rust: a *comparison*! ", "c-rust-a-comparison"),
        ("Über uns", "über-uns"),
        ("Настройка 2", "настройка-2"),
        ("東京オフィス", "東京オフィス"),
        ("हिन्दी में", "हिन्दी-में"),
        ("snake_case", "snake-case"),
        ("v1.2", "v1-2"),
        ("❤️", "section"),
        ("", "section"),
        ("e\u0301te\u0301", "été"),
    ],
)
def test_a_slug_keeps_letters_and_digits_of_any_script(heading: str, slug: str) -> None:
    assert slugify(heading) == slug


def test_repeated_headings_get_numbers_in_order() -> None:
    assert unique_slugs(["A", "a!", "B", "A"]) == ["a", "a-2", "b", "a-3"]


def test_a_number_never_collides_with_a_heading_that_already_ends_like_that() -> None:
    assert unique_slugs(["Step", "Step", "Step 2", "Step"]) == [
        "step",
        "step-3",
        "step-2",
        "step-4",
    ]
    assert unique_slugs(["A 2", "A", "A", "A 2"]) == ["a-2", "a", "a-3", "a-2-2"]


@given(st.lists(st.one_of(st.sampled_from(["a", "a 2", "a-2-2", "a 3", "!"]), st.text())))
def test_slugs_are_always_different_and_never_the_preamble(headings: list[str]) -> None:
    slugs = unique_slugs(headings)
    assert len(set(slugs)) == len(slugs) == len(headings)
    assert all(slug and "_" not in slug and not slug.startswith("-") for slug in slugs)


@given(st.text())
def test_a_slug_of_a_slug_is_the_same_slug(heading: str) -> None:
    assert slugify(slugify(heading)) == slugify(heading)
