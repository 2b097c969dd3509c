"""The documentation says what the code does."""

import re

import pages
from knowbase.http.served import served
from pages import ROOT, api_page, commands, conformance, covered, notes, requirements, settings_page

DOCS = ROOT / "docs"


def test_every_number_that_a_test_names_is_a_requirement() -> None:
    assert set(covered()) <= set(requirements())
    assert set(notes()) <= set(requirements())


def test_the_conformance_page_is_up_to_date() -> None:
    """Run `python3 dev.py docs` when this fails."""
    assert (DOCS / "conformance.md").read_text(encoding="utf-8") == conformance()


def test_the_commands_page_is_up_to_date() -> None:
    assert (DOCS / "commands.md").read_text(encoding="utf-8") == commands()


def test_the_fields_page_is_up_to_date() -> None:
    assert (DOCS / "fields.md").read_text(encoding="utf-8") == pages.fields_page()


def test_the_settings_page_is_up_to_date() -> None:
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    assert page == settings_page(page)
    assert pages.settings_table() in page


def test_the_api_page_is_up_to_date() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert page == api_page(page)
    for path in served():
        assert f" {path}\n" in page


def test_links_between_pages_lead_somewhere() -> None:
    for page in (*DOCS.rglob("*.md"), *ROOT.glob("*.md")):
        prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_architecture_page_stays_short_and_names_every_module() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    for module in (ROOT / "src" / "knowbase").iterdir():
        if module.suffix == ".py" or (module / "__init__.py").exists():
            assert module.stem.strip("_") in text, module.name
