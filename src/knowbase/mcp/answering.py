"""From a call to an answer: run the operation, shape what it gives, keep it short enough."""

import re
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.mcp import wording
from knowbase.mcp.budget import AgentAnswer, Budget, as_text
from knowbase.mcp.quoting import cleaned
from knowbase.mcp.shape import shaped
from knowbase.mcp.tools import Call
from knowbase.operations.results import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.base import Base
    from knowbase.base.status import Status
    from knowbase.memory.sessions import Timeline
    from knowbase.text.sections import Content
    from knowbase.values.folders import Folder
    from knowbase.values.notes import Remembered

LONGEST_OPENING = 240  # letters of a text that says almost the same
LISTS = {
    "kb_links": "ids", "kb_map": "ids", "kb_session": "ids", "kb_edit": "snippets",
    "kb_saved": "snippets",
}  # fmt: skip
"""Tools that answer with lists, and how much they tell of each document."""
MOST_LISTED = 200  # documents that are looked at for one page
SHORTER = {"full": ("full", "snippets", "ids"), "snippets": ("snippets", "ids"), "ids": ("ids",)}


def answer(call: Call, base: "Base") -> AgentAnswer:
    """What the tool answers, within the tokens that were asked for."""
    answering = Answering(call, base, Budget(call.view.max_tokens, base.models.count_tokens))
    special: dict[str, Callable[[], AgentAnswer]] = {
        "kb_search": answering.results,
        "kb_get_related": answering.results,
        "kb_get": answering.document,
        "kb_timeline": answering.timeline,
        "kb_status": answering.status,
        "kb_list": answering.listing,
        "search": answering.as_json,
        "fetch": answering.as_json,
        **dict.fromkeys(LISTS, answering.lists),
    }
    return special.get(call.tool.name, answering.whole)()


class Answering:
    """One call on its way to an answer."""

    def __init__(
        self,
        call: Call,
        base: "Base",
        budget: Budget,
    ) -> None:
        self.call = call
        self.base = base
        self.budget = budget

    def whole(self) -> AgentAnswer:
        """An answer that is short by its nature."""
        result = self._run(self.call.request)
        if self.call.tool.name == "kb_remember":
            result = _with_short_openings(result)
        return self._fitted_answer(shaped(result, "snippets"))

    def results(self) -> AgentAnswer:
        """A page of results: those that fit, the others behind the cursor."""
        start = self.call.start
        whole = self.call.view.detail == "full"
        found = self._run(self.call.request._replace(offset=start, with_content=whole))
        items = found.results
        is_last = not found.metadata.more

        def page(detail: str, number: int) -> dict[str, Any]:
            more = number < len(items) or (items and not is_last)
            following = {"next_cursor": self.call.cursor(start + number)} if more else {}
            return {**shaped(found._replace(results=items[:number]), detail), **following}

        def tell(detail: str, number: int) -> AgentAnswer:
            return self._fitted_answer(page(detail, number))

        for detail in SHORTER[self.call.view.detail]:
            number = self.budget.most_of(len(items), partial(tell, detail))
            if number or not items:
                return tell(detail, number)
            cut = self._first_cut(page(detail, 1)) if detail == "full" else None
            if cut is not None:
                return cut
        return tell("ids", 0)

    def listing(self) -> AgentAnswer:
        """A page of a folder; its folders are told on the first page alone."""
        start = self.call.start
        found: Folder = self._run(self.call.request._replace(limit=MOST_LISTED, offset=start))
        folders = found.folders if not start else ()

        def tell(detail: str, number: int) -> AgentAnswer:
            page = found._replace(folders=folders, documents=found.documents[:number])
            more = start + number < found.total
            following = {"next_cursor": self.call.cursor(start + number)} if more else {}
            return self._fitted_answer({**shaped(page, detail), **following})

        for detail in SHORTER[self.call.view.detail]:
            number = self.budget.most_of(len(found.documents), partial(tell, detail))
            if number or not found.documents:
                return tell(detail, number)
        return tell("ids", 0)

    def lists(self) -> AgentAnswer:
        """An answer whose lists are cut to what fits; how much that leaves out is told."""
        data = shaped(self._run(self.call.request), LISTS[self.call.tool.name])
        names = [name for name, part in data.items() if isinstance(part, list)]

        def tell(number: int) -> AgentAnswer:
            left_out = sum(max(0, len(data[name]) - number) for name in names)
            cut = {**data, **{name: data[name][:number] for name in names}}
            return self._fitted_answer({**cut, "left_out": left_out} if left_out else cut)

        size = max((len(data[name]) for name in names), default=0)
        return tell(self.budget.most_of(size, tell))

    def as_json(self) -> AgentAnswer:
        """For clients that read the text as JSON."""
        data = cleaned(plain(self._run(self.call.request)))
        return AgentAnswer(data, as_text(data))

    def _first_cut(self, data: dict[str, Any]) -> AgentAnswer | None:
        """A first result that is too long, with as much of its content as fits, and where
        kb_get goes on; None when nothing of it does. What was found is in it: where the beginning
        does not reach so far, it begins there."""
        found = _start_of(data["results"][0].get("heading"), data["results"][0]["content"])
        cut, length = self._cut_from(0, data)
        return cut if length > found or not length else self._cut_from(found, data)[0]

    def _cut_from(self, start: int, data: dict[str, Any]) -> tuple[AgentAnswer | None, int]:
        first = data["results"][0]
        text, before = first["content"][start:], "…\n" if start else ""

        def tell_part(length: int) -> AgentAnswer:
            following = {"content_cursor": str(start + length)} if length < len(text) else {}
            part = {**first, "content": before + text[:length], **following}
            return self._fitted_answer({**data, "results": [part]})

        length = self.budget.most_of(min(len(text), self.budget.longest), tell_part)
        length = good_end(text, length) if length else 0
        return (tell_part(length) if length else None), length

    def document(self) -> AgentAnswer:
        """A document's text from the cursor on."""
        found: Content = self._run(self.call.request)
        start = min(self.call.start, len(found.text))
        shown = _Text(found, start, self.call)
        most = min(len(found.text) - start, self.budget.longest)
        length = self.budget.most_of(most, lambda size: self._fitted_answer(shown.data(size)))
        return self._fitted_answer(shown.data(good_end(found.text[start:], length)))

    def timeline(self) -> AgentAnswer:
        """The nearest on both sides, rather in few words than none; further ones are around
        the farthest."""
        found: Timeline = self._run(self.call.request)

        def tell(detail: str, number: int) -> AgentAnswer:
            near = found._replace(
                before=found.before[max(0, len(found.before) - number) :],
                after=found.after[:number],
            )
            left_out = len(found.before) + len(found.after) - len(near.before) - len(near.after)
            data = shaped(near, detail)
            return self._fitted_answer({**data, "left_out": left_out} if left_out else data)

        size = max(len(found.before), len(found.after))
        for detail in SHORTER[self.call.view.detail]:
            number = self.budget.most_of(size, partial(tell, detail))
            if number or (not size and self.budget.holds(tell(detail, 0))):
                return tell(detail, number)
        return tell("ids", 0)

    def status(self) -> AgentAnswer:
        """The long lists of a status are cut."""
        found: Status = self._run(self.call.request)

        def tell(number: int) -> AgentAnswer:
            cut = found._replace(sources=found.sources[:number], problems=found.problems[:number])
            return self._fitted_answer(shaped(cut, "full"))

        size = max(len(found.sources), len(found.problems))
        return tell(self.budget.most_of(size, tell))

    def _run(self, request: Any) -> Any:
        from knowbase.store.acting import acting

        with acting("mcp", self.call.tool.name):
            return self.call.tool.operation.run(self.base, request)

    def _fitted_answer(self, data: dict[str, Any]) -> AgentAnswer:
        shown = cleaned(data)
        return AgentAnswer(shown, wording.text_of(self.call.tool.name, shown), _links(data))


def _start_of(heading: str | None, text: str) -> int:
    """Where the section begins that was found; 0 where that cannot be told."""
    line = rf"^#*[ \t]*{re.escape(heading)}[ \t#]*$" if heading else ""
    match = re.search(line, text, re.MULTILINE)
    return match.start() if match else 0


class _Text(NamedTuple):
    """A part of a document's text."""

    content: "Content"
    start: int
    call: Call

    def data(self, length: int) -> dict[str, Any]:
        end = self.start + length
        text = self.content.text
        part = self.content._replace(
            text=text[self.start : end], sections=self._sections(self.start, end)
        )
        following = {"next_cursor": self.call.cursor(end)} if end < len(text) else {}
        return {**shaped(part, "snippets"), **following}

    def _sections(self, start: int, end: int) -> tuple[Any, ...]:
        """Those that the part has something of."""
        kept, place = [], 0
        for section in self.content.sections:
            if place < end and place + len(section.text) > start:
                told = section.text[: max(0, start - place)]
                kept.append(section._replace(line=section.line + told.count("\n")))
            place += len(section.text)
        return tuple(kept)


def good_end(text: str, length: int) -> int:
    """Where a part of that length should end: not within a line, nor within a word, if that
    costs little."""
    if length == len(text):
        return length
    for mark in ("\n", " "):
        place = text[:length].rfind(mark) + 1
        if place > length * 3 // 4:
            return place
    return length


def _links(data: dict[str, Any]) -> tuple[str, ...]:
    """The documents that an answer is about, unless only ids were wanted."""
    results = data.get("results", [data])
    documents = [one.get("document", one) for one in results]
    return tuple(one["code"] for one in documents if "code" in one and "updated_at" in one)


def _with_short_openings(remembered: "Remembered") -> "Remembered":
    short = (one._replace(opening=one.opening[:LONGEST_OPENING]) for one in remembered.similar)
    return remembered._replace(similar=tuple(short))
