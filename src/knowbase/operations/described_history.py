"""What the fields mean of what a base was: its log, versions, differences and going back."""

from collections.abc import Mapping

_BY = {
    "at": "by the clock",
    "who": "the user or the token",
    "surface": "cli, python, http, mcp or git",
    "command": "the command or tool",
}
_DRY_RUN = "nothing was changed"

OF_HISTORY: Mapping[str, Mapping[str, str]] = {
    "Touched": {"what": "added, changed, forgotten, restored, removed or erased"},
    "LoggedChange": {
        **_BY,
        "number": "its place in time",
        "run": "the same for all that one command wrote",
        "touched": "the documents that it concerns",
    },
    "Log": {
        "changes": "the newest first",
        "titles": "by id, of what is there among the first that each touched",
    },
    "Step": {
        **_BY,
        "number": "of the change that made it",
        "what": "became of it: added, changed, forgotten …",
        "fields": "that are not as before",
        "words_added": "how many words are new",
        "words_removed": "how many words are gone",
        "is_kept": "whether what it said is still known",
    },
    "DocumentHistory": {"steps": "its versions, the newest first"},
    "FieldChange": {"field": "its name", "old": "its value before", "new": "its value after"},
    "Difference": {
        "old": "the earlier moment",
        "new": "the later moment",
        "fields": "that differ",
        "words": "that both have (=), the old one (-) and the new one (+)",
    },
    "Pruned": {"versions": "how many were given up", "dry_run": _DRY_RUN},
    "Undone": {
        "changes": "of one command, the newest first",
        "restored": "codes of documents that are as they were",
        "removed": "codes of those that were not there before",
        "dry_run": _DRY_RUN,
        "unsynced": "where files of these lie that no source holds any more",
    },
    "Runs": {"runs": "the last change of each command, the newest first"},
    "Erased": {
        "codes": "of documents that were there",
        "number": "with those of which only versions were left",
        "is_swept": "whether the file was written anew, so that no free page has the text",
    },
}
