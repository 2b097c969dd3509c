"""Tags in running text: `#garden` is one, a channel, a colour, an anchor or a priority is none.

A page does not always say which. Where nobody chats, "in #ideas" is a tag; a name that chats give
their rooms ("owned by #team-web, then") is one in a page that tags or links as notes do.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from knowbase.read.dialects import ATTRIBUTES

if TYPE_CHECKING:
    from markdown_it.token import Token

_URL = re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}://\S+|\bwww\.\S+", re.IGNORECASE)
_TAG_START = re.compile(r"""(?:^|(?<=[\s(\[,;"'“‘«]))(?<!\][(\[])#(?=[^\W\d_])""")
_NOT_TEXT = "\ufffc"
_HASHED = re.compile(r"#[^\W\d_][\w/-]*")
_TAGS_TO_THE_END = re.compile(r"(?:[ \t,]*#[^\W\d_][\w/-]*)*[ \t]*(?:\n|$)")
_AS_NOTES_TAG = re.compile(  # several on a line of their own, or one below another
    r"(?m)^[ \t]*#[^\W\d_][\w/-]*(?:[ \t,]+#[^\W\d_][\w/-]*)+[ \t]*$|(?:^|\s)#[^\W\d_][\w-]*/\w"
)
_CODE_TAG = re.compile(r"<(/?)(?:code|kbd|pre|samp)\b", re.IGNORECASE)
_PRIORITY = re.compile(r"\[#[A-Z]\]")  # of tasks, in Logseq and Org
# Hexadecimal digits that no word is written with; "b2b" and "facade" are words.
_COLOUR = re.compile(
    r"(?=.*\d)(?:[0-9a-f]{6}|[0-9a-f]{8})|[0-9a-f]{2}\d|([0-9a-f])\1\1|([0-9a-f]{2})\2\2"
    r"|([0-9a-f])\3([0-9a-f])\4([0-9a-f])\5|r{1,2}g{1,2}b{1,2}(?:a{1,2})?",
    re.IGNORECASE,
)
# What else is a colour in a page that has some: "afeeee" beside "00ced1".
_LIKE_A_COLOUR = re.compile(r"[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8}", re.IGNORECASE)
_CHAT = re.compile(r"\b(?:slack|discord|mattermost|irc|zulip|channels?)\b", re.IGNORECASE)
_BEFORE_CHANNEL = re.compile(
    r"(?:\b(?:in|to|on|at|via|into|through|from|by|the|our|your|their|an?|join|or|and|channels?:?"
    r"|\w+['’]s)|[,/]) [(\[\"'“]*#$",
    re.IGNORECASE,
)
# What one does where people talk, in a page that does not say where that is: "post it in #help".
_TALKING = re.compile(
    r"\b(?:ask|post|ping|contact|message|notif(?:y|ies)|announce|reach out|let us know|say hi|"
    r"slack|send|submit|share?|communicate?|request|consult|escalate?|alert|report|raise|go|goes)"
    r"(?:s|d|ed|ing)?(?: [\w@'’`/-]+){0,6}? (?:(?:in|to|on|at|via|through) )(?:slack )?"
    r"[\"'“(]*#(?=[^\W\d_])"
    r"|\b(?:ask|ping|contact|message|notif(?:y|ies)|(?:please|to|or|and) slack|consult)"
    r" [\"'“(]*#(?=[^\W\d_])"
    r"|\bchannels?\b[^.#\n]{0,30}#(?=[^\W\d_])"
    r"|\b(?:alerts?|contacts?|chat|support|questions|notifications|slack|discord|irc): ?"
    r"#(?=[^\W\d_])",
    re.IGNORECASE,
)
_ROOM = re.compile(  # by what companies and projects agree on
    r"(?:alerts?|announce|ask|chat|discuss|ext|feed|help|sig|support|team|wg)-[a-z0-9-]+"
    r"|[a-z0-9-]+-(?:alerts?|announcements?|chat|feed|help|notifications?|support|team)"
)


def tags_in(running: Sequence[Sequence["Token"]], *, tags_elsewhere: bool) -> Iterator[str]:
    """The tags of a page's running text; a page that has some elsewhere is one that tags."""
    if not any("#" in token.content for children in running for token in children):
        return
    texts = [_URL.sub(_NOT_TEXT, "".join(_outside_links(children))) for children in running]
    tags = tags_elsewhere or any(map(_links_as_notes_do, running))
    page = _Page(texts, chats=any(map(_speaks_of_chats, running)), tags=tags)
    hashed = [list(page.hashed(text)) for text in texts]
    # What is a channel or an anchor once is so wherever the page names it.
    others = {anchor for children in running for anchor in _anchors(children)}
    others |= {tag.lower() for found in hashed for tag, is_tag in found if not is_tag}
    if any(map(_COLOUR.fullmatch, others)):
        every = {tag.lower() for found in hashed for tag, _ in found}
        others |= set(filter(_LIKE_A_COLOUR.fullmatch, every))
    for found, children in zip(hashed, running, strict=True):
        yield from (tag for tag, _ in found if tag.lower() not in others)
        for before, token in pairwise(children):
            if token.type == "wiki_link" and before.content.endswith("#"):  # #[[two words]]
                yield " ".join(token.content.split())


class _Page:
    """What a page says of the words behind its hashes."""

    def __init__(self, texts: Sequence[str], *, chats: bool, tags: bool) -> None:
        self._talks = chats or any(map(_TALKING.search, texts))
        self._tags = tags or any(map(_AS_NOTES_TAG.search, texts))

    def hashed(self, text: str) -> Iterator[tuple[str, bool]]:
        """Every word behind a hash, and whether it is a tag."""
        if "#" not in text:
            return
        text = _PRIORITY.sub(_NOT_TEXT, ATTRIBUTES.sub("", text))
        talking = {match.end() for match in _TALKING.finditer(text)}
        for match in _TAG_START.finditer(text):
            start = match.end()
            tag = _tag_at(text, start)
            is_channel = start in talking or self._is_channel(text, start, tag)
            yield tag, not is_channel and not _COLOUR.fullmatch(tag)

    def _is_channel(self, text: str, start: int, tag: str) -> bool:
        """Whether a word behind a hash is where people talk: "the #help channel", "in #help", or
        whatever stands alone or within a sentence. Tags stand together, or at a line's end."""
        end = start + len(tag)
        if not self._talks and (self._tags or not _ROOM.fullmatch(tag)):
            return False
        if _BEFORE_CHANNEL.search(text[:start]) or not _TAGS_TO_THE_END.match(text, end):
            return True
        line = text[text.rfind("\n", 0, start) + 1 : start - 1]
        return not line.strip() and not _HASHED.search(text[end:].partition("\n")[0])


def _speaks_of_chats(children: Sequence["Token"]) -> bool:
    return _CHAT.search(_HASHED.sub("", "".join(token.content for token in children))) is not None


def _links_as_notes_do(children: Sequence["Token"]) -> bool:
    return any(token.type == "wiki_link" for token in children)


def _anchors(children: Sequence["Token"]) -> Iterator[str]:
    """What links of the page name behind a hash: those words are places, wherever they stand."""
    for token in children:
        if token.type == "link_open" and "#" in (href := str(token.attrs.get("href", ""))):
            yield href.partition("#")[2].lower()


def _outside_links(children: Sequence["Token"]) -> Iterator[str]:
    """What is not shown for something else, as `[#general](https://…)` is."""
    depth = 0
    in_code = False
    for token in children:
        depth += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type == "html_inline" and (tag := _CODE_TAG.match(token.content)):
            in_code = not tag[1]
        yield _NOT_TEXT if depth or in_code else _running(token)


def _running(token: "Token") -> str:
    """The part of an inline token in which a tag may stand."""
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    if token.type == "text" or (token.type == "text_special" and "#" not in token.content):
        return token.content
    # Nothing for emphasis, so that **#tag** counts; a placeholder where something stands.
    return _NOT_TEXT if token.content and token.type != "html_inline" else ""


def _tag_at(text: str, start: int) -> str:
    end = start
    while end < len(text) and _in_tag(text[end]):
        end += 1
    return text[start:end].rstrip("-/")


def _in_tag(char: str) -> bool:
    return char.isalnum() or char in "_-/" or unicodedata.category(char) in ("Mn", "Mc")
