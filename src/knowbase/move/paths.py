"""Paths of a base that lies elsewhere: its files are still found.

A file's base knows its home, and one at another place gets the paths as seen from there. A base
in PostgreSQL has none of its own: relative paths start wherever a checkout is, and stay.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from typing import Protocol

from knowbase.base import Base
from knowbase.ingest.parts import file_of
from knowbase.ingest.places import Home
from knowbase.store.contract import CopySource
from knowbase.store.location import is_url
from knowbase.store.versions import relocated
from knowbase.values.copies import Copy, Frame, SharedParts
from knowbase.values.history import HistoryPart


class Origin(Protocol):
    """What is known of a base that is copied: also of one that an export was made of."""

    @property
    def shown(self) -> str: ...

    @property
    def path(self) -> str: ...

    @property
    def home(self) -> str: ...


class Relocated:
    """One base as it is to be in another: a `knowbase.store.contract.CopySource`."""

    def __init__(
        self, whole: CopySource, first: Origin, second: Origin, *, stays: bool = False
    ) -> None:
        self._whole = whole
        self._from, self._to = Home(first.home), Home(second.home)
        no_home = has_no_home(first) or has_no_home(second)
        self._stays = stays or no_home or first.home == second.home
        files = () if self._stays else whole.shared().files
        self._known: Collection[str] = {one.path for one in files}

    def frame(self) -> Frame:
        return self._whole.frame()

    def seqs(self) -> list[int]:
        return self._whole.seqs()

    def copies(self, seqs: Collection[int]) -> list[Copy]:
        found = self._whole.copies(seqs)
        return found if self._stays else [self._copy(one) for one in found]

    def shared(self) -> SharedParts:
        shared = self._whole.shared()
        return shared if self._stays else self._shared(shared)

    def history(self) -> Iterator[HistoryPart]:
        for part in self._whole.history():
            yield part if self._stays else self._part(part)

    def _part(self, part: HistoryPart) -> HistoryPart:
        versions = (
            one if one.data is None else one._replace(data=relocated(one.data, self._copy))
            for one in part.versions
        )
        return part._replace(versions=tuple(versions))

    def _copy(self, copy: Copy) -> Copy:
        document = copy.document
        return copy._replace(
            document=document._replace(
                path=document.path and self._path(document.path),
                parent=self._name(document.parent),
                superseded_by=self._name(document.superseded_by),
            ),
            said=self._said(copy.said),
        )

    def _said(self, said: Mapping[str, object]) -> Mapping[str, object]:
        if "superseded_by" not in said:
            return said
        named = said["superseded_by"]
        return {**said, "superseded_by": self._name(None if named is None else str(named))}

    def _shared(self, shared: SharedParts) -> SharedParts:
        files = (
            one._replace(path=self._path(one.path), source=self._path(one.source))
            for one in shared.files
        )
        sources = (one._replace(path=self._path(one.path)) for one in shared.sources)
        return shared._replace(
            files=tuple(sorted(files, key=lambda one: one.path)),
            sources=tuple(sorted(sources, key=lambda one: one.path)),
        )

    def _path(self, path: str) -> str:
        return self._to.stored(self._from.absolute(path))

    def _name(self, name: str | None) -> str | None:
        """Another document by name: the path of a file or of a part of one, unless it is a code or
        an id."""
        return self._path(name) if name and file_of(name, self._known) is not None else name


def has_no_home(base: Origin) -> bool:
    return is_url(base.path)


def notices(first: Origin, second: Base) -> tuple[str, ...]:
    """What should be known of files and settings that the new base does not hold."""
    found = []
    relative = [path for path in second.store.files() if not os.path.isabs(path)]
    if relative and has_no_home(second) and not has_no_home(first):
        found.append(
            f"its paths start from {first.home}: run kb sync there, or in a checkout of it"
        )
    if relative and not has_no_home(second):
        missing = [one for one in relative if not os.path.exists(os.path.join(second.home, one))]
        if missing:
            found.append(
                f"{len(missing)} of its {len(relative)} files are not below {second.home}:"
                " kb sync would find them gone"
            )
    settings = os.path.join(first.home, "kb.toml")
    if os.path.exists(settings) and first.home != second.home:
        found.append(f"the settings in {settings} are not part of the base, and stay there")
    return tuple(found)
