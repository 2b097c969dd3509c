"""What a file is for: code, data, tests and examples answer a question in words less often than a
page."""

import re
from functools import lru_cache

from knowbase.values.documents import Document

CODE, DATA, TEST, EXAMPLE = "code", "data", "test", "example"
KINDS = (CODE, DATA, TEST, EXAMPLE)
USES = (TEST, EXAMPLE)
"""Who names an identifier means what has it, not what uses it."""
_DATA_ENDINGS = (".json", ".jsonl", ".toml", ".xml", ".yaml", ".yml")


@lru_cache(1)
def _test_path() -> re.Pattern[str]:
    """Made when first needed: tests/, test_x.py, x_test.go, x.spec.ts, XTest.java."""
    return re.compile(
        r"(?:^|/)(?:(?:tests?|__tests?__|specs?|testdata|test[-_]data|fixtures?|e2e)/"
        r"|test_[^/]*$|conftest\.py$|[^/]*[_.-](?:tests?|spec)\.\w+$|[^/]*[a-z]Tests?\.\w+$)"
    )


@lru_cache(1)
def _example_path() -> re.Pattern[str]:
    """Programs that show how something is used; docs_src/ and listings/ have what pages include."""
    return re.compile(r"(?:^|/)(?:examples?|samples?|demos?|listings?|docs_src)/", re.IGNORECASE)


@lru_cache(1)
def _identifier() -> re.Pattern[str]:
    """a_name, aName, a.name, a::name, a->name, call(), and aName or AName alone."""
    return re.compile(
        r"\w_\w|\w\(|::|->|[A-Za-z_]\.[A-Za-z_]|\b[a-z]+[A-Z][a-z]"
        r"|^\s?\w{0,60}[a-z][A-Z]\w{0,60}\s?$"  # bounded: queries may be long
    )


def kind_of(document: Document) -> str | None:
    """Code, data, a test or an example; none for what people write for people."""
    path = document.path or ""
    is_code = document.type == CODE
    if not is_code and not path.lower().endswith(_DATA_ENDINGS):
        return None
    if _test_path().search(path):
        return TEST
    if _example_path().search(path):
        return EXAMPLE
    return CODE if is_code else DATA


def names_code(text: str) -> bool:
    """Whether a query has an identifier: then code and data are what it may well mean."""
    if text.islower() and text.replace(" ", "").isalpha():  # plain words, as most are
        return False
    return _identifier().search(text) is not None
