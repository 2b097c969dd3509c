"""Files that nobody wrote to be read: made by programs, or secrets. Said, and left out."""

import os
import re
from pathlib import PurePath

from knowbase.read import type_of

EXPORT = "kb-export.jsonl"  # everything of a base, which its pages say beside it
GENERATED = "generated: .gitattributes says so"
_LOCKS = frozenset({
    "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
    "bun.lockb", "poetry.lock", "pdm.lock", "uv.lock", "pipfile.lock", "conda-lock.yml",
    "cargo.lock", "gemfile.lock", "composer.lock", "go.sum", "go.work.sum", "flake.lock",
    "mix.lock", "pubspec.lock", "podfile.lock", "packages.lock.json", "package.resolved",
    "gradle.lockfile", "deno.lock",
})  # fmt: skip
# ~$plan.docx of Word, .~lock.plan.odt# of LibreOffice; plan.md~ and #plan.md# of editors.
_OPENED = re.compile(r"~\$.+|\.~lock\..+#")
_BACKUP = re.compile(r".+~|#.+#|\.#.+")
_OF_SYSTEMS = frozenset({"thumbs.db", "ehthumbs.db", "desktop.ini", ".ds_store", "icon\r"})
_MINIFIED = re.compile(r"[.-](?:min|bundle|chunk)\.(?:js|mjs|cjs|css)$|\.(?:js|css|mjs)\.map$")
_MADE = re.compile(
    r"\.pb\.(?:go|cc|h|c|py|rs|swift)$|_pb2(?:_grpc)?\.pyi?$|\.g\.(?:dart|cs)$|\.designer\.cs$"
    r"|\.snap$|\.generated\.\w+$|_generated\.\w+$|(?:^|[._-])zz_generated[._-]|\.freezed\.dart$"
)
_SECRETS = re.compile(
    r"(?:.+)?\.env(?:\..+)?|env\.(?:local|prod|production|dev|development|staging|test)"
    r"|\.?(?:npmrc|pypirc|netrc|pgpass|htpasswd|git-credentials)|_netrc"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|(?:.+[._-])?(?:credentials|passwords?|deploy_key|api_?keys?)"
    r"|.+\.(?:pem|p12|pfx|jks|keystore|kdbx|ppk|tfvars|tfstate)"
    r"|(?:.+[._-])?(?:secrets?|credentials)(?:[._-].+)?\.(?:ya?ml|json|toml|ini|env|properties)"
    r"|(?:.+-)?service-?account.*\.json|kubeconfig"
)
# A text of this name may be about them.
_PERHAPS_SECRETS = re.compile(
    r"(?:.+[._-])?(?:secrets?|credentials|passwords?|deploy_key|api_?keys?)(?:[._-].+)?\.txt"
)
_LONG_LINE = re.compile(rb"^(?:[^\s:=]+[ \t]+){7}\S", re.MULTILINE)
_PROSE = 3  # lines of so many words that people write, and keys do not have
_SAMPLES = ("example", "sample", "template", "dist", "tmpl")
_PRIVATE_KEY = re.compile(rb"^\s*-----BEGIN [A-Z ]*PRIVATE KEY-----", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*(?://+|/\*+|\*|#+|--+|;+|%+|<!--|REM\b)(.*)$", re.MULTILINE)
_MARKER = re.compile(
    rb"code generated .{0,200}do not edit|@generated\b|auto-?generated .{0,100}do not edit"
    rb"|this file (?:is|was) (?:automatically|auto-?)[ -]?generated|do not edit.{0,60}generated",
    re.IGNORECASE,
)
_ZIP = b"PK\x03\x04"
_HEAD = 2000  # bytes in which a file says that it was generated
_SAMPLE = 1 << 16
PRIVATE = "looks like a secret"
_LONG = 400  # bytes of an average line that nobody has written
_LARGE = 20_000  # bytes from which a file of numbers is data
_MOSTLY = 0.85
_STRUCTURED = frozenset({
    "csv", "tsv", "json", "jsonl", "ndjson", "geojson", "xml", "yaml", "yml", "svg",
})  # fmt: skip
_PLAIN = re.compile(rb"[0-9\s.,;:+\-/|=eE]")


def noise_by_name(path: str) -> str | None:
    """Why a file of this name is not read unless it is asked for; None when it is."""
    name = os.path.basename(path).lower()
    if name in _LOCKS or name.endswith(".lock") or _OPENED.fullmatch(name):
        return "a lock file"
    if name == EXPORT:
        return "the data of an export"
    if name in _OF_SYSTEMS:
        return "a system's own file"
    if _BACKUP.fullmatch(name):
        return "an editor's backup"
    if _SECRETS.fullmatch(name) and not name.endswith(_SAMPLES):
        return PRIVATE
    if _MINIFIED.search(name):
        return "minified"
    return "generated" if _MADE.search(name) else None


def _comments(code: bytes) -> bytes:
    return b" ".join(b" ".join(_COMMENT.findall(code)).split())


def noise_in(path: str, data: bytes) -> str | None:
    """The same by what a file holds; documents that people read are never noise."""
    kind = type_of(path)
    if kind not in ("code", "text"):
        return None
    if kind == "text" and _is_secret(PurePath(path).name.lower(), data[:_SAMPLE]):
        return PRIVATE
    # In a comment: code may well speak of generated files.
    if kind == "code" and _MARKER.search(_comments(data[:_HEAD])):
        return "generated"
    sample = data[:_SAMPLE]
    extension = PurePath(path).suffix[1:].lower()
    if extension in ("js", "mjs", "cjs", "css") and _average_line(sample) > _LONG:
        return "minified"
    is_large = len(data) > _LARGE and extension not in _STRUCTURED and b"\0" not in sample
    if is_large and len(_PLAIN.findall(sample)) > len(sample) * _MOSTLY:
        return "data: almost nothing but numbers"
    return None


def _is_secret(name: str, sample: bytes) -> bool:
    if _PRIVATE_KEY.search(sample):
        return True
    if name.endswith(".key"):
        return not sample.startswith(_ZIP)  # a presentation of Apple's
    return bool(_PERHAPS_SECRETS.fullmatch(name)) and len(_LONG_LINE.findall(sample)) < _PROSE


def _average_line(sample: bytes) -> float:
    return len(sample) / (sample.count(b"\n") + 1)
