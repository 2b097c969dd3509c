"""A text as it is shown to somebody: what cannot be seen, or steers what shows it, is taken out.

What is stored and what programs get (`--json`, HTTP, Python) stays as it is.
"""

import re
from functools import cache

_LINE_ENDS = {0x0B: "\n", 0x0C: "\n", 0x0D: "\n", 0x85: "\n", 0x2028: "\n", 0x2029: "\n"}
_CONTROLS = (*range(0x09), *range(0x0E, 0x20), *range(0x7F, 0x85), *range(0x86, 0xA0))
_SHOWN = {**dict.fromkeys(_CONTROLS), **_LINE_ENDS}

_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Zero-width, fillers, bidirectional controls, variation selectors, annotations, tags."""

_JOINING = "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
"""Letters of Arabic, Indic, Khmer and other scripts, whose shape a joiner chooses."""
_MONGOLIAN = "\u1820-\u18aa"
_PICTURES = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


def visible(text: str) -> str:
    """The text without what cannot be seen. One joiner stays where a script or an emoji is
    written with it, and one variation selector behind what it can change."""
    if not text.isascii() and not _odd().search(text):
        return text
    text = text.replace("\r\n", "\n").translate(_SHOWN)
    if text.isascii():
        return text
    return _unseen().sub(lambda match: match["kept"] or "", text)


def one_line(text: str) -> str:
    """The same on one line: whatever it says, it begins no other one."""
    return " ".join(visible(text).split())


def escaped(json: str) -> str:
    """The same JSON, with what cannot be seen written out: \\u200b."""
    if json.isascii() and "\x7f" not in json:
        return json
    return _odd().sub(lambda match: _in_json(match[0]), json)


def _in_json(character: str) -> str:
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


@cache
def _odd() -> re.Pattern[str]:
    """What most texts have nothing of: looking for it is ten times as fast as going through."""
    return re.compile(f"[\0-\b\v-\x1f\x7f-\x9f\u2028\u2029{_UNSEEN}]")


@cache
def _unseen() -> re.Pattern[str]:
    """What is taken out, or `kept` in its place."""
    return re.compile(
        "(?P<kept>"
        f"(?<=[{_JOINING}])[\u200c\u200d](?=[^{_UNSEEN}]|$)"
        f"|(?<=[{_MONGOLIAN}])[\u180b-\u180f](?=[^{_UNSEEN}]|$)"
        f"|(?<=[{_PICTURES}])\u200d(?=[{_PICTURES}])"
        f"|(?<=[{_PICTURES}]\ufe0f)\u200d(?=[{_PICTURES}])"
        f"|(?<=[{_PICTURES}])[\ufe0e\ufe0f](?=\u200d[{_PICTURES}]|[^{_UNSEEN}]|$)"
        "|(?<=[0-9#*])\ufe0f(?=\u20e3)"
        f"|(?<=[{_IDEOGRAPHS}])[\ufe00-\ufe02\U000e0100-\U000e01ef](?=[^{_UNSEEN}]|$)"
        f")|[{_UNSEEN}]"
    )
