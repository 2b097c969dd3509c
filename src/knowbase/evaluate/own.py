"""A user's own judgments against their own base."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from knowbase.base import Base
from knowbase.errors import InvalidInput, NotFound
from knowbase.evaluate.asking import section_key
from knowbase.evaluate.judged import Question, Without
from knowbase.store.sqlite import SqliteStore
from knowbase.text.sections import stored_sections
from knowbase.values.changes import Changes
from knowbase.values.documents import Document, Passage
from knowbase.values.reading import Reading, Section, stored_reading


def resolved(base: Base, questions: Sequence[Question]) -> list[Question]:
    """The questions with ids instead of references; a reference to nothing is an error."""
    return [
        question._replace(
            relevant={
                _key(base, reference, question): score
                for reference, score in question.relevant.items()
            }
        )
        for question in questions
    ]


def _key(base: Base, reference: str, question: Question) -> str:
    """A document's id, or a section."""
    try:
        content = base.get(reference)
    except NotFound as error:
        raise _unknown(reference, question, error.hint) from None
    try:
        return base.whole(reference).id
    except InvalidInput:  # a section does not stand for its document
        return section_key(content.sections[0].section)


def _unknown(reference: str, question: Question, hint: str | None) -> InvalidInput:
    return InvalidInput(
        f"question {question.id} ({question.text[:60]!r}): there is no {reference!r} in the base",
        field="relevant",
        hint=hint,
    )


@contextmanager
def reduced(base: Base, questions: Sequence[Question]) -> Iterator[Base]:
    """The base that the questions are asked of: without what they are to do without.

    Then it is a copy that goes away afterwards; the base itself is never changed.
    """
    withouts = [(question, question.without) for question in questions if question.without]
    if not withouts:
        yield base
        return
    with tempfile.TemporaryDirectory(prefix="kb-eval-") as folder:
        path = os.path.join(folder, "base.db")
        if not isinstance(base.store, SqliteStore):
            raise InvalidInput(
                "questions with text taken out need a base in a file",
                field="judgments",
                hint="kb move it into a file first",
            )
        base.store.copy_to(path)
        with Base(path, embedder=base.embedder, configuration=base.configuration) as copy:
            _take_out(copy, withouts)
            yield copy


def _take_out(copy: Base, withouts: Sequence[tuple[Question, Without]]) -> None:
    cuts: dict[str, list[str]] = {}
    removed: set[str] = set()
    for question, without in withouts:
        try:
            document = copy.whole(without.document)
        except (NotFound, InvalidInput) as error:
            raise _unknown(without.document, question, error.hint) from None
        if without.text:
            cuts.setdefault(document.id, []).append(without.text)
        else:
            removed.add(document.id)
    services = copy.ingest_services()
    drafts = []
    for one in cuts.keys() - removed:
        passages = copy.store.chunks(one)
        document = passages[0].document
        reading = _reading(document, passages, cuts[one])
        drafts.append(services.drafter.draft(one, reading, document.path, document.updated_at))
    embedded = services.drafter.embed(drafts, copy.store).drafts if drafts else ()
    copy.store.apply(Changes(drafts=embedded, removed=tuple(sorted(removed))), copy.now())


def _reading(document: Document, passages: Sequence[Passage], cuts: Sequence[str]) -> Reading:
    """A stored document as a reader would give it, without some of its passages."""
    sections = [_without(section, cuts) for section in stored_sections(passages)]
    kept = tuple(one for one in sections if one.text.strip() or one.header.strip())
    return stored_reading(document, kept)


def _without(section: Section, cuts: Sequence[str]) -> Section:
    for cut in cuts:
        section = section._replace(text=section.text.replace(cut, "", 1))
    return section
