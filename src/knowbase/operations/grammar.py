"""What texts of a parameter are read as, told as JSON Schema tells it.

Each `Param.grammar` has its line here. What stands here is what the server takes: a text that fits
is accepted, but for what depends on the moment or on the base; tests make texts of it and try.
"""

from typing import Any

from knowbase.config import Settings, dotted
from knowbase.text.paths import LONGEST
from knowbase.values.codes import MOST
from knowbase.values.documents import FIELDS
from knowbase.values.parameters import LONGEST_SESSION, Parameter

Schema = dict[str, Any]

_YEAR = "[12][0-9]{3}"
_LEAP = "(?:[12][0-9](?:0[48]|[2468][048]|[13579][26])|(?:12|16|20|24|28)00)"
_DAY = (
    f"(?:{_YEAR}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    f"|{_YEAR}-(?:0[13-9]|1[0-2])-(?:29|30)"
    f"|{_YEAR}-(?:0[13578]|1[02])-31|{_LEAP}-02-29)"
)
_TIME = r"[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?(?:Z|[+-]0[0-9]:00)?"
_DATE = f"{_DAY}(?:{_TIME})?|{_YEAR}(?:-(?:0[1-9]|1[0-2]))?"
_LONG = (
    "(?:[0-9]{1,6} ?(?:min|minutes?|h|hours?)|[0-9]{1,5} ?(?:d|days?|w|weeks?)"
    "|[0-9]{1,4} ?(?:m|months?)|[0-9]{1,3} ?(?:y|years?))"
)
_NAMED = (
    "now|today|yesterday|(?:this|last) (?:week|month|year)"
    "|(?:last )?(?:mon|tues|wednes|thurs|fri|satur|sun)day"
)
_MOMENT = f"(?:{_DATE}|{_NAMED}|{_LONG}(?: ago)?)"
_SIGN = "(?:>=|<=|>|<|=)?"
_SHARE = r"(?:0(?:\.[0-9]{1,9})?|1(?:\.0{1,9})?|\.[0-9]{1,9})"

_SPACES = r"\s\x1c-\x1f\x85"  # not every language calls these letters spaces, as Python does
NOT_BLANK = f"[^{_SPACES}]"
_HIDDEN = (
    r"\x00-\x1f\x7f-\xa0\xad\u061c\u180e\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000"
    "\ue000-\uf8ff\ufeff\ufff0-\ufffb\U00040000-\U0010ffff"
)
_UNSEEN = f" {_HIDDEN}"
_LETTERS = (
    r"0-9A-Za-z\xaa\xb5\xba\xc0-\xd6\xd8-\xf6\xf8-\u1fff\u2c00-\ud7ff\uf900-\ufdff"
    "\U00010000-\U0003ffff"
)
_NUMBER = r"[-+]?[0-9]{1,30}(?:\.[0-9]{1,30})?"
_KEY = f"[^<>=!{_SPACES}][^<>=!]*"
_BEYOND = f"[<>]=?(?:{_NUMBER}|{_MOMENT})"
_EQUAL = rf"!?=[{_SPACES}]*[^<>={_SPACES}][\s\S]*"

_PATTERNS = {
    "moment": f"^{_SIGN}{_MOMENT}$",
    "past": f"^{_MOMENT}$",
    "as_of": NOT_BLANK,  # any text may be the name of a session
    "where": f"^[{_SPACES}]*(?:{_KEY}(?:{_BEYOND}|{_EQUAL})?)?$",
    "path": f"[^,{_SPACES}]",
    "code": f"^[^{_UNSEEN}]+(?: [^{_UNSEEN}]+)*$",
    "word": f"[{_LETTERS}]",
    "line": f"^ *[^{_UNSEEN}][^{_HIDDEN}]*$",
    "setting": "^(?:" + "|".join(map(dotted, Settings._fields)).replace(".", "[.]") + ")$",
    "ahead": f"^(?:{_LONG}|{_DATE}|{_NAMED})$",
    "duration": f"^{_LONG}$",
    "share": f"^{_SIGN}{_SHARE}$",
    "assignment": "^[A-Za-z0-9_]+=",
    "text": NOT_BLANK,
    "cursor": "^[0-9]{1,9}-[0-9a-f]{16}$",
    "session": NOT_BLANK,
    "name": r"^[A-Za-z0-9][A-Za-z0-9_.\-]*$",
}
_LONGEST = {"session": LONGEST_SESSION, "name": 64, "code": MOST, "path": LONGEST, "word": 100}
FEWEST = {"word": 2}  # items of a list that has to have some


class Known:
    """What a base knows of its own: its types and its profiles."""

    def __init__(self, types: tuple[str, ...] = (), profiles: tuple[str, ...] = ()) -> None:
        self.lists = {"types": types, "profiles": profiles}


def constraints(field: Parameter, known: Known) -> Schema:
    """What a text has to be beyond a text; for a list, what each of its items has to be."""
    told = _constraints(field, known)
    if not field.param.blank:
        return told
    if "enum" in told:
        return {"enum": [*told["enum"], ""]}
    return {**told, "pattern": f"^$|{told['pattern']}"} if "pattern" in told else told


def _constraints(field: Parameter, known: Known) -> Schema:
    grammar = field.param.grammar
    names = known.lists.get(grammar)
    if names is not None:
        return {"enum": [*names, *([""] if field.default == "" else [])]} if names else {}
    if grammar == "listed":
        one = f"(?:{'|'.join(FIELDS[field.name].choices)})"
        return {"pattern": f"^{one}(?:,{one})*$"}
    told: Schema = {"pattern": _PATTERNS[grammar]} if grammar else {}
    if grammar in _LONGEST:
        told["maxLength"] = _LONGEST[grammar]
    return told
