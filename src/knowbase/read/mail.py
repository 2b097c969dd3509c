"""Mail (.eml, .mbox, maildir): a document a message, and one an attachment."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from email import policy
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any

from knowbase.errors import ReadError
from knowbase.read.about import stated, stored
from knowbase.read.blocks import text_of
from knowbase.read.decode import BinaryFile, decode
from knowbase.read.file import File
from knowbase.read.html import blocks_of, read_html
from knowbase.read.plain import whole
from knowbase.text.slugs import slugify, unique_slugs
from knowbase.values.reading import Link, Part, Reading, Section

ReadInside = Callable[[File], Reading]

_FROM = re.compile(rb"(?m)(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From [^\r\n]*\r?\n")
_QUOTED_FROM = re.compile(rb"(?m)^>(>*From )")
_REPLY = re.compile(r"(?:(?:re|aw|sv|antw|fwd?|wg|tr|rv)(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)
_SHOWN = ("From", "To", "Cc", "Date")
_HEADER = re.compile(rb"[!-9;-~]+[ \t]*:(?!//)")
_HEAD = re.compile(rb"\A(?:[^\r\n]+\r?\n)+")
_HEADER_LINE = re.compile(rb"(?:([!-9;-~]+)[ \t]*:|[ \t])")
_MOST_ATTACHMENTS = 200


def looks_like_mail(data: bytes) -> bool:
    """Whether it begins with headers, as the files of a maildir do."""
    head = data[:4096].replace(b"\r\n", b"\n").partition(b"\n\n")[0].lower()
    return bool(_HEADER.match(data)) and b"\nfrom:" in b"\n" + head


def read_message(file: File, read_inside: ReadInside) -> Reading:
    """One message."""
    data = _FROM.sub(b"", file.data, count=1) if file.data.startswith(b"From ") else file.data
    if not _HEADER.match(data):
        raise ReadError("The message is damaged or something else, and cannot be read.")
    message = _Message(data)
    reading = _document(message, file, read_inside)
    thread = _answered(message)
    return reading._replace(links=(Link(thread, "wiki"),) if thread else ())


def read_saved_page(file: File) -> Reading:
    """A page with its pictures in one file, as browsers save it: a message that holds it."""
    message = _Message(file.data)
    try:
        part = message.parsed.get_body(("html", "plain"))
    except Exception:
        part = None
    if part is None:
        raise ReadError("The saved page is damaged or something else, and cannot be read.")
    return read_html(_content(part), message.header("Subject") or file.stem)


def read_mbox(file: File, read_inside: ReadInside) -> Reading:
    """A file of messages. Which message answers which is a link."""
    starts = [match.span() for match in _FROM.finditer(file.data)]
    if not starts:
        raise ReadError("The mailbox is damaged or something else, and cannot be read.")
    limit = file.most or len(starts)
    ends = [start for start, _ in starts[1:]] + [len(file.data)]
    messages = [
        _Message(_QUOTED_FROM.sub(rb"\1", file.data[begin:end]))
        for (_, begin), end in zip(starts[:limit], ends, strict=False)
    ]
    names = unique_slugs(message.name(number) for number, message in enumerate(messages, 1))
    ids = {message.id: name for message, name in zip(messages, names, strict=True)}
    parts, told = [], []
    for name, message in zip(names, messages, strict=True):
        reading = _document(message, file, read_inside)
        links = [
            Link(ids[one], "wiki") for one in _references(message) if ids.get(one, name) != name
        ]
        thread = _answered(message)
        links = links or ([Link(thread, "wiki")] if thread else [])
        told += [f"{reading.title}: {warning}" for warning in reading.warnings]
        parts.append(Part(name, reading._replace(links=tuple(links), warnings=())))
    if limit < len(starts):
        told.append(f"only its first {limit} of {len(starts)} messages are read")
    word = "message" if len(starts) == 1 else "messages"
    text = f"Mailbox of {len(starts)} {word}{_span(messages)}.\n"
    return Reading("mail", file.name, whole(text), warnings=tuple(told), parts=tuple(parts))


class _Message:
    """A message whose headers are read once each: that takes the library long."""

    def __init__(self, data: bytes) -> None:
        self.parsed: Any = BytesParser(policy=policy.default).parsebytes(_mended(data))
        self._headers: dict[str, str] = {}

    def header(self, name: str) -> str:
        """A header as text; some are so broken that the library gives up."""
        if name not in self._headers:
            try:
                found = str(self.parsed.get(name, ""))
                found = self._as_bytes_say(name) or found if "\ufffd" in found else found
            except Exception:
                found = ""
            self._headers[name] = " ".join(found.split())
        return self._headers[name]

    def _as_bytes_say(self, name: str) -> str:
        """A header that is not in ASCII and does not say in what: mostly as the text is."""
        raw = next(text for key, text in self.parsed.raw_items() if key.lower() == name.lower())
        data = str(raw).encode("utf-8", "surrogateescape")
        try:
            return data.decode(self.parsed.get_content_charset() or "utf-8")
        except (LookupError, ValueError):
            return decode(data)

    @property
    def id(self) -> str:
        return self.header("Message-ID").strip("<> ")

    @cached_property
    def date(self) -> datetime | None:
        try:
            return parsedate_to_datetime(self.header("Date"))
        except (ValueError, TypeError, OverflowError):
            return None

    def name(self, number: int) -> str:
        """By which it is known in its mailbox."""
        return slugify(self.id or f"{self.header('Subject')} {number}")[:80]


def _mended(data: bytes) -> bytes:
    """Without what breaks off the headers: lines that are none, blanks before a colon."""
    head = _HEAD.match(data)
    if head is None:
        return data
    lines = head[0].splitlines(keepends=True)
    kept = [
        _HEADER_LINE.sub(rb"\1:", line, count=1) if line[:1] not in b" \t" else line
        for line in lines
        if _HEADER_LINE.match(line)
    ]
    return b"".join(kept) + data[head.end() :]


def _references(message: _Message) -> list[str]:
    """The message that it answers, else those before that one, the last one first."""
    told = f"{message.header('References')} {message.header('In-Reply-To')}"
    return list(dict.fromkeys(reversed(re.findall(r"<([^<>\s]+)>", told))))[:1]


def _answered(message: _Message) -> str | None:
    """The subject of what it answers."""
    subject = message.header("Subject")
    match = _REPLY.match(subject)
    return subject[match.end() :].strip()[:200] or None if match else None


def _span(messages: list[_Message]) -> str:
    days = sorted(date.date().isoformat() for message in messages if (date := message.date))
    return f" from {days[0]} to {days[-1]}" if days else ""


def _document(message: _Message, file: File, read_inside: ReadInside) -> Reading:
    lines = [f"{name}: {value}" for name in _SHOWN if (value := message.header(name))]
    attachments = list(_attachments(message))[:_MOST_ATTACHMENTS]
    if attachments:
        lines.append("Attachments: " + ", ".join(name for name, _ in attachments))
    text = "\n".join(lines) + "\n\n" + _body(message).strip() + "\n"
    parts, told = _read_attachments(attachments, file, read_inside)
    date = message.date
    fields: dict[str, Any] = stated(
        {
            "from": message.header("From"),
            "to": message.header("To"),
            "cc": message.header("Cc"),
            "date": date.isoformat() if date else None,
            "message_id": message.id,
        },
        message.header("Keywords"),
        _moment(date),
    )
    if "updated_at" in fields:  # it is written once
        fields["created_at"] = fields["updated_at"]
    section = Section("_preamble", None, "", text, 1)
    title = message.header("Subject") or file.stem
    return Reading("mail", title, (section,), fields, warnings=told, parts=parts)


def _moment(date: datetime | None) -> str | None:
    try:
        return stored(date) if date else None
    except OverflowError:
        return None


def _body(message: _Message) -> str:
    """The plain text, else what a page would show."""
    try:
        part = message.parsed.get_body(("plain", "html"))
    except Exception:
        part = None
    if part is None:
        return ""
    text = _content(part)
    if part.get_content_type() == "text/html":
        return text_of(blocks_of(text)[0])
    return text


def _content(part: Any) -> str:
    try:
        found = part.get_content()
        if isinstance(found, str) and "\ufffd" not in found:
            return found.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    except Exception:
        found = None
    data = part.get_payload(decode=True)
    try:  # a charset that is not known, or is not what it says
        return decode(data) if isinstance(data, bytes) else ""
    except BinaryFile:
        return ""


def _attachments(message: _Message) -> Iterator[tuple[str, bytes]]:
    """Files that came with it, by name; pictures in its text have none."""
    for number, part in enumerate(
        message.parsed.iter_attachments() if message.parsed.is_multipart() else (), 1
    ):
        name = part.get_filename() or ""
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload(0)
            yield name or f"message-{number}.eml", bytes(inner)
        elif name:
            data = part.get_payload(decode=True)
            yield (
                name.replace("/", "_").replace("\0", "_"),
                data if isinstance(data, bytes) else b"",
            )


def _read_attachments(
    attachments: list[tuple[str, bytes]], file: File, read_inside: ReadInside
) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    parts, told = [], []
    for name, data in attachments:
        try:
            reading = read_inside(file.inside(name, data))
        except BinaryFile:
            continue  # a picture: its name is in the text
        except ReadError as error:
            told.append(f"its attachment {name} is not read: {error.message}")
            continue
        if reading.sections:
            parts.append(Part(name, reading._replace(scans=())))
        elif reading.type == "pdf":
            told.append(f"its attachment {name} is not read: it is scanned")
    return tuple(parts), tuple(told)
