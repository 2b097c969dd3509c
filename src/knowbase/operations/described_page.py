"""What the fields mean of what the page shows: reading, inbox, health, settings."""

from collections.abc import Mapping

OF_THE_PAGE: Mapping[str, Mapping[str, str]] = {
    "Heading": {
        "level": "from 1, as in the text",
        "anchor": "where the page has it",
    },
    "Rendered": {
        "kind": "markdown, code, text or pages",
        "language": "of code",
        "front_matter": "keys and values that stand before the text",
        "outline": "its headings",
        "tree": "text, or elements with attributes and children",
        "marks": "how many passages the query hits",
        "first_line": "of this part",
        "next_line": "where the next part begins",
        "total_lines": "of the whole",
        "truncated": "there is more than this part",
    },
    "LikeIt": {
        "similarity": "from 0 to 1",
        "diff": "words that both have (=), that it has (-) and the other (+)",
    },
    "Judgement": {
        "verdict": "accept, forget, supersede, merge or later",
        "by": "who said it",
        "at": "when it was said",
    },
    "InboxItem": {
        "kept": "why it was kept",
        "groups": "what it should be looked at for",
        "like": "what it is most like",
        "verdict": "what was said of it",
    },
    "Inbox": {
        "items": "what waits for a verdict",
        "compared": "how many of them were compared with others",
        "groups": "how many there are of each",
    },
    "Judged": {
        "verdict": "what was said",
        "by": "who said it",
        "at": "when it was said",
        "undone": "the verdict that was taken back",
        "other": "the other document",
        "merged": "the text that was made of both",
    },
    "NearDocument": {
        "depth": "how many links away",
        "degree": "how many links it has",
    },
    "NearLink": {
        "source": "from which document",
        "target": "to which document",
        "strength": "from 0 to 1",
    },
    "DeadLink": {
        "source": "the document that names it",
        "count": "how often",
    },
    "Neighbourhood": {
        "centre": "the document in the middle",
        "nodes": "the documents around it, nearest first",
        "dead": "links that lead nowhere",
        "dead_total": "how many there are in all",
        "left_out": "documents that found no room",
    },
    "Ailment": {
        "severity": "error, warning or info",
        "what": "in a few words",
        "detail": "in a sentence",
        "count": "how many are affected",
        "command": "what mends it",
        "examples": "some of them",
    },
    "Examined": {
        "engine": "sqlite or postgresql",
        "chunks": "how many passages",
        "embedded": "how many have a vector",
    },
    "Disk": {
        "base_bytes": "of the base",
        "free_bytes": "left on the disk",
        "total_bytes": "of the disk",
    },
    "KnownClient": {
        "client": "an agent's program",
        "command": "what configures it",
        "is_there": "it is configured for this base",
    },
    "Diagnosis": {
        "summary": "in a sentence",
        "findings": "what is wrong, worst first",
        "versions": "of what matters",
        "base": "what the base is",
        "disk": "its room",
        "clients": "programs of agents",
    },
    "Latency": {
        "p50": "half took less, in ms",
        "p95": "95 of 100 took less, in ms",
    },
    "WithoutHits": {
        "at": "when it was asked",
    },
    "Searches": {
        "count": "since the server started",
        "without_hits": "how many found nothing",
        "latency_ms": "how long they took",
        "last_without_hits": "the last that found nothing",
        "semantic_share": "the share that meaning took part in",
    },
    "TaskLine": {
        "task": "add, sync, embed or eval",
        "state": "running, done, failed or stopped",
        "done": "how much is done",
        "rate": "a second",
        "left_s": "seconds that are left",
        "what": "what it is at",
        "ended_at": "when it ended",
        "result": "what came of it",
        "scores": "of eval: how often each way to search found it",
    },
    "TaskScore": {
        "system": "a profile, or one leg alone",
        "first": "share found as the first hit",
        "third": "share found among the first three",
    },
    "TaskList": {
        "tasks": "the long work of this server",
    },
    "SettingLine": {
        "key": "its name",
        "value": "what holds",
        "about": "what it does",
        "default": "what holds when nothing is said",
        "least": "its smallest value",
        "most": "its largest value",
        "choices": "the values that it takes",
        "variable": "the environment variable that sets it",
        "in_use": "what the server works with",
        "by_command": "whether a server refuses to change it: kb config set does",
    },
    "Config": {
        "base": "where the base is",
        "settings": "every setting",
    },
    "SettingChange": {
        "key": "its name",
        "value": "what it becomes",
        "before": "what it was",
        "file": "where it is written",
        "diff": "what changes in the file",
        "dry_run": "nothing was written",
        "restart": "the server has to be started again",
    },
    "NewToken": {
        "scope": "read or write",
        "token": "the secret, shown once",
        "file": "where its hash is kept",
    },
    "TokenLine": {
        "scope": "read or write",
        "last_used_at": "when it was last used",
    },
    "TokenList": {
        "tokens": "without their secrets",
        "file": "where they are kept",
    },
}
