"""Subtitles and transcripts (.vtt, .srt): who speaks when, as lines."""

import re
from html import unescape
from typing import NamedTuple

from knowbase.read.file import File
from knowbase.text.slugs import unique_slugs
from knowbase.values.reading import Reading, Section

_TIME = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})\s*-->")
_VOICE = re.compile(r"<v(?:\.[\w.]+)?\s+([^>]+)>")
_TAG = re.compile(r"<[^<>]*>|\{\\[^}]*\}")
_SPAN = 300  # seconds that make a section
_UNSEEN = ("NOTE", "STYLE", "REGION", "WEBVTT", "X-TIMESTAMP")


class _Cue(NamedTuple):
    seconds: int
    speaker: str
    text: str
    line: int


def read_subtitles(file: File) -> Reading:
    """What is said, line by line, in sections of five minutes."""
    spans: dict[int, list[_Cue]] = {}
    for cue in _cues(file.text):
        spans.setdefault(cue.seconds // _SPAN, []).append(cue)
    headings = [f"From {_clock(span * _SPAN)}" for span in spans]
    slugs = unique_slugs(headings)
    sections = tuple(
        Section(slug, heading, "", _text(cues), cues[0].line)
        for slug, heading, cues in zip(slugs, headings, spans.values(), strict=True)
    )
    return Reading("text", file.stem, sections)


def _cues(text: str) -> list[_Cue]:
    """Cues follow each other with a blank line between; what repeats the one before is left out,
    as live subtitles do that roll up."""
    found: list[_Cue] = []
    said: list[str] = []
    line = 1
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.split("\n")
        at = next((n for n, one in enumerate(lines) if _TIME.search(one)), None)
        if at is not None and not block.lstrip().startswith(_UNSEEN[:1]):
            match = _TIME.search(lines[at])
            assert match is not None
            hours, minutes, seconds = (int(part or 0) for part in match.groups()[:3])
            body = "\n".join(lines[at + 1 :])
            voice = _VOICE.search(body)
            shown = [" ".join(unescape(_TAG.sub("", one)).split()) for one in body.split("\n")]
            fresh = [one for one in shown if one and one not in said]
            said = [one for one in shown if one] or said
            if fresh:
                moment = hours * 3600 + minutes * 60 + seconds
                speaker = voice[1].strip() if voice else ""
                found.append(_Cue(moment, speaker, " ".join(fresh), line + at))
        line += block.count("\n") + 2
    return found


def _text(cues: list[_Cue]) -> str:
    """A line a cue; of one speaker, the name is said once."""
    lines, last = [], ""
    for cue in cues:
        name = f"{cue.speaker}: " if cue.speaker and cue.speaker != last else ""
        last = cue.speaker
        lines.append(f"{_clock(cue.seconds)} {name}{cue.text}\n")
    return "".join(lines)


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
