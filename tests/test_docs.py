"""The documentation says what the code does."""

import re
import tomllib

import pages
from knowbase.http.served import methods_of, served
from pages import ROOT, api_page, commands, settings_page
from rows import KEY, conformance, covered, notes, requirements, unshown

DOCS = ROOT / "docs"
LAST = {"S0": 28, "S1": 19, "S2": 32, "S3": 44, "S4": 33, "C": 36}
"""How many requirements each document has, the choices included."""
WAITING: set[str] = set()
"""What is not shown through a surface yet."""


def test_every_number_that_a_test_names_is_a_requirement() -> None:
    assert set(covered()) <= set(requirements())
    assert set(notes()) <= set(requirements())


def test_no_requirement_is_forgotten() -> None:
    numbers = [
        f"{letters}-{number:02}" if letters != "C" else f"C{number}"
        for letters, last in LAST.items()
        for number in range(1, last + 1)
    ]
    assert list(requirements()) == numbers
    assert all(requirements().values())


def test_every_requirement_is_shown_through_a_surface() -> None:
    """By the command, over HTTP, with an agent's tools or from Python: reading a constant, or
    calling what no user calls, shows nothing."""
    assert unshown() <= WAITING


def test_every_requirement_is_under_a_letter_of_the_key() -> None:
    letters = {re.split(r"-|(?<=C)", number)[0] for number in requirements()}
    assert letters == set(KEY)


def test_the_conformance_page_is_up_to_date() -> None:
    """Run `python3 dev.py docs` when this fails."""
    assert (DOCS / "conformance.md").read_text(encoding="utf-8") == conformance()


def test_the_commands_page_is_up_to_date() -> None:
    assert (DOCS / "commands.md").read_text(encoding="utf-8") == commands()


def test_the_fields_page_is_up_to_date() -> None:
    assert (DOCS / "fields.md").read_text(encoding="utf-8") == pages.fields_page()


def test_the_table_of_formats_is_up_to_date() -> None:
    page = (DOCS / "files.md").read_text(encoding="utf-8")
    assert page == pages.files_page(page)
    assert pages.formats_table() in page


def test_the_settings_page_is_up_to_date() -> None:
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    assert page == settings_page(page)
    assert pages.settings_table() in page


def test_the_api_page_is_up_to_date() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert page == api_page(page)
    assert pages.statuses_table() in page


def test_the_api_page_has_a_section_for_each_route_and_no_other() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    routes = [f"{' '.join(methods_of(one))} {path}" for path, one in served().items()]
    assert re.findall(r"(?m)^### (.+)$", page) == routes


def test_the_page_on_postgresql_argues_its_choices() -> None:
    """S4-22: what the document asks to be written down."""
    page = (DOCS / "postgres.md").read_text(encoding="utf-8")
    arguments = page.split("## Why it is so")[1].split("\n## ")[0]
    for word in ("IVFFlat", "GIN", "Any of the tags", "parent", "siblings", "60", "Cormack",
                 "empty", "SHA-256", "READ COMMITTED"):  # fmt: skip
        assert word in arguments, word


def test_links_between_pages_lead_somewhere() -> None:
    links = set()
    for page in (*DOCS.rglob("*.md"), *ROOT.glob("*.md")):
        prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            links.add((page, (page.parent / target).resolve()))
    assert [link for link in links if not link[1].exists()] == []
    assert (ROOT / "README.md", ROOT / "ARCHITECTURE.md") in links


ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "knowbase"


def layers_of_the_page() -> list[str]:
    """The page's first block: names at the start of each line, then what they are."""
    block = ARCHITECTURE.split("```")[1]
    return re.findall(r"(?m)^(\w+(?: \| \w+)*)", block)


def layers_of_the_check() -> list[str]:
    """The layers that import-linter holds the code to."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = [one for one in contracts["tool"]["importlinter"]["contracts"] if "layers" in one]
    return list(layers[0]["layers"])


def test_the_architecture_page_stays_short() -> None:
    assert len(ARCHITECTURE.splitlines()) <= 150


def test_the_layers_of_the_architecture_page_are_those_that_are_checked() -> None:
    assert layers_of_the_page() == layers_of_the_check()


def test_the_layers_are_the_folders_and_modules_of_the_package() -> None:
    names = [name for layer in layers_of_the_page() for name in layer.split(" | ")]
    modules = [path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__"]
    folders = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    assert sorted(names) == sorted([*modules, *folders])


def test_files_and_folders_that_the_architecture_page_names_exist() -> None:
    """Names are those in `code`: `store/rules.py` is below the package or the project, a file
    without a folder is anywhere in the package."""
    quoted = set(re.findall(r"`([\w./-]+)`", re.sub(r"```.*?```", "", ARCHITECTURE, flags=re.S)))
    paths = {name for name in quoted if re.fullmatch(r"\w[\w./-]*/[\w./-]*", name)}
    files = {name for name in quoted - paths if name.endswith(".py")}
    assert "store/contract.py" in paths
    missing = [one for one in paths if not ((PACKAGE / one).exists() or (ROOT / one).exists())]
    assert sorted(missing) == []
    assert sorted(files - {path.name for path in PACKAGE.rglob("*.py")}) == []
