"""Pages of the web that somebody has named: fetched when they are added, and again by a sync."""

import re
from collections.abc import Callable, Iterator, Sequence
from email.utils import parsedate_to_datetime
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from knowbase.errors import ReadError
from knowbase.ingest.fetching import Fetched, Known, Unreachable, address_of, fetch
from knowbase.ingest.foreign import Foreign, Left, id_of, take
from knowbase.ingest.pending import FileProblem
from knowbase.ingest.report import Progress, Report, joined
from knowbase.ingest.services import IngestServices
from knowbase.query.conditions import FORGOTTEN, AllOf, Compare, Not, OneOf
from knowbase.read.about import stored
from knowbase.store.acting import as_one
from knowbase.text.names import ADDRESS
from knowbase.values.changes import Changes
from knowbase.values.documents import ALL, Document
from knowbase.values.reading import Reading

TYPE = "web"
ETAG, MODIFIED = "etag", "last_modified_header"
_NAMES = {
    "application/pdf": "pdf", "text/markdown": "md", "text/x-markdown": "md", "text/plain": "txt",
    "application/json": "json", "text/csv": "csv", "application/xml": "xml", "text/xml": "xml",
}  # fmt: skip
_HTML = ("text/html", "application/xhtml+xml")
_PASSWORD = re.compile(rb"<input\b[^>]{0,500}type\s*=\s*[\"']?password", re.I)
_LOGIN = re.compile(r"[/_-](?:log-?in|sign-?in|sso|saml2?|authorize)(?:[/._-]|$)", re.I)
_FORM = 2000  # characters of text that a page has at most that is there to let somebody in

Tell = Callable[[Progress], None]


class Gone(NamedTuple):
    """A page that its server does not have, or no more."""

    address: str
    document: Document | None
    code: int

    @property
    def told(self) -> str:
        if self.document is None:
            return f"there is no such page: its server answers {self.code}"
        code = self.document.code
        return (
            f"it is gone (its server answers {self.code}); {code} stays as it was."
            f" kb rm {code} removes it, or kb sync --prune all that is gone"
        )


def page_id(address: str) -> str:
    """The id of the document that a page becomes."""
    return id_of(_key(address_of(address)))


def _key(address: str) -> str:
    return f"web:{address}"


@as_one
def add_pages(
    services: IngestServices, named: Sequence[str], tags: Sequence[str], progress: Tell
) -> Report:
    """Fetch these pages, also those that were forgotten or are as they were."""
    addresses = list(dict.fromkeys(address_of(one) for one in named))
    ids = tuple(id_of(_key(one)) for one in addresses)
    known = {one.id: one for one in services.store.documents(OneOf("id", ids), ALL)}
    pages = _Pages(services, tuple(tags))
    wanted = [(one, known.get(id_of(_key(one)))) for one in addresses]
    taken = take(
        services, pages.fetched(wanted), unit="pages", total=len(wanted), progress=progress
    )
    failed = [
        *(FileProblem(one.address, one.told) for one in pages.gone),
        *(FileProblem(one.name, one.reason) for one in pages.unreached),
    ]
    report = joined(Report(unchanged=pages.unchanged), taken)
    return report._replace(failed=(*report.failed, *failed))


@as_one
def refresh_pages(services: IngestServices, *, prune: bool, progress: Tell) -> Report:
    """Ask for every page again. One that is gone, or cannot be asked for now, is said and stays;
    with `prune`, what is gone is removed."""
    wanted = AllOf((Not(FORGOTTEN), Compare("type", "=", TYPE)))
    found = services.store.documents(wanted, ALL)
    stored_pages = [(address, one) for one in found if (address := _named_address(one))]
    if not stored_pages:
        return Report()
    pages = _Pages(services, ())
    taken = take(
        services, pages.fetched(stored_pages), unit="pages", total=len(stored_pages),
        progress=progress,
    )  # fmt: skip
    report = joined(Report(unchanged=pages.unchanged), taken)
    removed = [one for one in pages.gone if one.document is not None] if prune else []
    if removed:
        ids = tuple(one.document.id for one in removed if one.document is not None)
        services.store.apply(Changes(removed=ids), services.clock())
    told = [] if prune else [f"{one.address}: {one.told}" for one in pages.gone]
    told += [f"{one.name}: {one.reason}; it stays as it was" for one in pages.unreached]
    return report._replace(
        removed=tuple(one.address for one in removed), warnings=(*report.warnings, *told)
    )


def _named_address(document: Document) -> str | None:
    """The address that somebody has named to have it fetched. Its id is made of that, which no
    file and no note can say of itself: what stands in their metadata is not believed."""
    address = document.metadata.get(ADDRESS)
    if document.path is not None or not isinstance(address, str):
        return None
    return address if document.id == id_of(_key(address)) else None


class _Pages:
    """What became of pages that were asked for."""

    def __init__(self, services: IngestServices, tags: tuple[str, ...]) -> None:
        self._services = services
        self._tags = tags
        self._unreachable: dict[str, str] = {}
        self.unchanged = 0
        self.gone: list[Gone] = []
        self.unreached: list[Left] = []

    def fetched(self, wanted: Sequence[tuple[str, Document | None]]) -> Iterator[Foreign | Left]:
        for address, old in wanted:
            try:
                found = self._fetch(address, old)
                if found.status == "unchanged" and old is not None:
                    self.unchanged += 1
                elif found.status == "gone":
                    self.gone.append(Gone(address, old, found.code))
                else:
                    yield self._page(address, found)
            except ReadError as error:
                hint = f" ({error.hint})" if error.hint else ""
                self.unreached.append(Left(address, error.message + hint))

    def _fetch(self, address: str, old: Document | None) -> Fetched:
        host = urlsplit(address).netloc
        if host in self._unreachable:  # once is enough to wait for it
            raise ReadError(self._unreachable[host])
        known = Known() if old is None or self._tags else _known(old)
        limits = self._services.disk.rules.max_bytes
        try:
            return fetch(address, known, limits)
        except Unreachable as error:
            self._unreachable[host] = error.message
            raise

    def _page(self, address: str, found: Fetched) -> Foreign:
        reading = self._read(found)
        letters = sum(len(one.text.strip()) for one in reading.sections)
        if not letters:
            raise ReadError("it has no text; what a script would write is not there")
        if letters < _FORM and _asks_who(address, found):
            raise ReadError(f"it leads to a page that asks who you are ({found.address})")
        aside = {
            "redirected_to": found.address if address_of(found.address) != address else None,
            ETAG: found.known.etag,
            MODIFIED: found.known.modified,
        }
        return Foreign(
            _key(address),
            TYPE,
            reading.title,
            "",
            {
                **reading.stated,
                "metadata": {**reading.value("metadata"), ADDRESS: address},
                "tags": reading.tags,
            },
            reading,
            aside={name: value for name, value in aside.items() if value},
            written=_header_moment(found.known.modified),
            given={"tags": self._tags},
        )

    def _read(self, found: Fetched) -> Reading:
        reader = self._services.drafter.reader
        if found.type in _HTML:
            return reader.page(found.address, found.data, found.charset)
        name = unquote(urlsplit(found.address).path).rpartition("/")[2] or "page"
        extension = _NAMES.get(found.type)
        if extension is None and not found.type.startswith("text/") and "." not in name:
            raise ReadError(f"it is {found.type}, which is not read")
        fits = extension is None or name.lower().endswith(f".{extension}")
        return reader.file(name if fits else f"{name}.{extension}", found.data)


def _asks_who(address: str, found: Fetched) -> bool:
    """Whether the server led to a form that lets somebody in, which is not what was named."""
    there = urlsplit(found.address).path
    if there.rstrip("/") == urlsplit(address).path.rstrip("/"):
        return False
    return bool(_PASSWORD.search(found.data) or _LOGIN.search(there))


def _known(old: Document) -> Known:
    etag, modified = old.metadata.get(ETAG), old.metadata.get(MODIFIED)
    return Known(
        etag if isinstance(etag, str) else None, modified if isinstance(modified, str) else None
    )


def _header_moment(text: str | None) -> str | None:
    try:
        return stored(parsedate_to_datetime(text)) if text else None
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
