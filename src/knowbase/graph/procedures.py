"""Procedures of Cypher by the names that other graph databases give to their outputs.

graphqlite yields `node_id` and `community`; elsewhere, and in S3-43, they are `nodeId` and
`communityId`. graphqlite wants a CALL to come first, so only the beginning is looked at.
"""

import re

OUTPUTS = {"nodeId": "node_id", "communityId": "community"}
"""What graphqlite calls an output."""

_HEAD = re.compile(r"(?:\s|(?://|--)[^\n]*(?:\n|\Z))*")
_ITEM = r"\w+(?:\s+AS\s+\w+)?"
_CALL = re.compile(
    rf"(?P<call>CALL\s+\w+\s*\([^()]*\)\s*YIELD\s+)(?P<items>{_ITEM}(?:\s*,\s*{_ITEM})*)", re.I
)


def translated(query: str) -> str:
    """The query in graphqlite's words, without the comments before it: `--` is none of Cypher's,
    and S3 writes them so."""
    query = _HEAD.sub("", query, count=1)
    call = _CALL.match(query)
    if call is None:
        return query
    items = ", ".join(_item(item) for item in call["items"].split(","))
    return call["call"] + items + query[call.end() :]


def _item(item: str) -> str:
    """`nodeId` → `node_id AS nodeId`; with a name of its own, it keeps that."""
    name, *alias = item.split()
    if name not in OUTPUTS:
        return " ".join([name, *alias])
    return " ".join([OUTPUTS[name], *(alias or ["AS", name])])
