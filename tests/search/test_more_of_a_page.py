"""Among the first hits, another page comes before more of the same one."""

from pathlib import Path

import pytest

import knowbase
from knowbase import Base, Hit, SearchRequest
from postgres import new_base

FILLER = "Nobody knows why the others were left behind in the old town hall that year. " * 3
FILES = {
    "book.md": "# Works\n\n"
    + "".join(f"## Part {n}\n\nOpen the {'valve ' * (6 - n)}slowly. {FILLER}\n" for n in range(4)),
    "other.md": f"# Pumps\n\nOpen the valve valve valve valve slowly. {FILLER}\n",
    "third.md": f"# Nothing\n\nNothing of the kind. {FILLER}\n",
}
REQUEST = SearchRequest("open valve", mode="keyword", explain=True)


def filled(place: str, folder: Path) -> Base:
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    base = knowbase.create(place)
    base.add(str(folder), defer=True)
    return base


def found(base: Base, request: SearchRequest = REQUEST) -> list[Hit]:
    return list(base.search(request).hits)


def names(hits: list[Hit]) -> list[str]:
    return [Path(hit.path or "").name for hit in hits]


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_second_page_stands_before_further_passages_of_the_first(
    engine: str, tmp_path: Path
) -> None:
    place = new_base() if engine == "postgres" else str(tmp_path / "base.db")
    with filled(place, tmp_path / "in") as base:
        hits = found(base)
        assert names(hits)[:2] == ["book.md", "other.md"]
        assert names(hits).count("book.md") == 4
        explained = [hit.explanation for hit in hits if hit.explanation is not None]
        reasons = [one.because for told in explained for one in told.factors]
        assert reasons.count(f"a further passage of {hits[0].code}") == 3
        assert [hit.score for hit in hits] == sorted((h.score for h in hits), reverse=True)
        assert [
            one for at in range(5) for one in found(base, REQUEST._replace(offset=at, top=1))
        ] == hits
        second = base.why_not(hits[1].code, REQUEST._replace(top=1))
        assert second.stage == "limit"
        assert second.score == pytest.approx(hits[1].score, abs=1e-12)


def test_a_profile_may_count_all_passages_alike(tmp_path: Path) -> None:
    text = "[profiles.best]\nfurther_factor = 1\n"
    (tmp_path / "kb.toml").write_text(text, encoding="utf-8")
    with filled(str(tmp_path / "base.db"), tmp_path / "in") as base:
        assert names(found(base))[:2] == ["book.md", "book.md"]
