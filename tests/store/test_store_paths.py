"""Which files a pattern of paths means, the same in every store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowbase.query.conditions import InPath, Not
from knowbase.store.contract import Store
from knowbase.text.paths import path_pattern
from knowbase.values.changes import Changes
from knowbase.values.documents import ALL
from stores import BACKENDS, NOW, draft, section

PATHS = (
    "docs/a.md", "docs/x/b.md", "docs/x/y/z.md", "src/docs/c.md", "tests/t.py", "pkg/tests/u.py",
    "README.md", "a/docs.md", "/home/me/notes/n.md", "app/[slug]/page (1)+.tsx", "50%_off/a_b.md",
    "win\\Dir\\w.md", "naïve/東京.md", "macs/cafe\N{COMBINING ACUTE ACCENT}.md",
)  # fmt: skip
MEANS = {
    "docs/": ("docs/a.md", "docs/x/b.md", "docs/x/y/z.md", "src/docs/c.md"),
    "docs": ("docs/a.md", "docs/x/b.md", "docs/x/y/z.md", "src/docs/c.md"),
    "Docs/X": ("docs/x/b.md", "docs/x/y/z.md"),
    "/docs": ("docs/a.md", "docs/x/b.md", "docs/x/y/z.md"),
    "./docs/**": ("docs/a.md", "docs/x/b.md", "docs/x/y/z.md"),
    "docs/*.md": ("docs/a.md", "src/docs/c.md"),
    "/docs/**/*.md": ("docs/a.md", "docs/x/b.md", "docs/x/y/z.md"),
    "x/**/z*": ("docs/x/y/z.md",),
    "do?s/x/": ("docs/x/b.md", "docs/x/y/z.md"),
    "docs.md": ("a/docs.md",),
    "docs.md/": (),
    "ocs/": (),
    "tests/": ("tests/t.py", "pkg/tests/u.py"),
    "/*/tests": ("pkg/tests/u.py",),
    "*.py": ("tests/t.py", "pkg/tests/u.py"),
    "readme.md": ("README.md",),
    "/home/me/": ("/home/me/notes/n.md",),
    "me/notes": ("/home/me/notes/n.md",),
    "[slug]/*(1)+.tsx": ("app/[slug]/page (1)+.tsx",),
    "50%_off": ("50%_off/a_b.md",),
    "a?b.*": ("50%_off/a_b.md",),
    "win/dir/": ("win\\Dir\\w.md",),
    "win/*/w.md": ("win\\Dir\\w.md",),
    "東?.md": ("naïve/東京.md",),
    "nai\N{COMBINING DIAERESIS}ve/": ("naïve/東京.md",),
    "macs/café.md": ("macs/cafe\N{COMBINING ACUTE ACCENT}.md",),
    "/macs/*é.md": ("macs/cafe\N{COMBINING ACUTE ACCENT}.md",),
    "/": PATHS,
    "**": PATHS,
}


@pytest.fixture(scope="module", params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> (
    Iterator[Store]
):  # fmt: skip
    made = BACKENDS[request.param](Path(tmp_path_factory.mktemp("paths")))
    files = [draft(f"d{n}", section("otters"), path=path) for n, path in enumerate(PATHS)]
    made.apply(Changes(drafts=(*files, draft("note", section("otters")))), NOW)
    yield made
    made.close()


@pytest.mark.parametrize("pattern", MEANS)
def test_a_pattern_means_these_files(store: Store, pattern: str) -> None:
    meant = path_pattern(pattern)
    assert meant is not None
    found = {one.path for one in store.documents(InPath(meant), ALL)}
    assert found == set(MEANS[pattern])
    others = {one.path for one in store.documents(Not(InPath(meant)), ALL)}
    assert others == {*PATHS, None} - found


def test_what_would_take_long_to_compare_is_not_a_pattern(store: Store) -> None:
    assert path_pattern("*a" * 40) is None
    assert path_pattern("a/" * 600) is None
    hardest = path_pattern("**/" + "*a" * 15 + "b")
    assert hardest is not None
    long = draft("long", section("otters"), path="/".join(["a" * 200] * 10))
    store.apply(Changes(drafts=(long,)), NOW)
    assert not list(store.documents(InPath(hardest), ALL))
