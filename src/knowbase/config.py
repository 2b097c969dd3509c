"""Settings: defaults < kb.toml < KB_* < flags, read once, each knowing where it comes from."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.logs import FORMATS, LEVELS
from knowbase.values.kinds import Kind, Unfit, fitted, read_flag

FILE_NAME = "kb.toml"
OTHERS = (
    "KB_SEARCH_DEFAULT_LIMIT",  # of every profile: see ranking/custom.py
    "KB_SEARCH_MAX_LIMIT",
    "KB_EMBED_KEY",  # secrets: read where they are used, never kept
    "KB_RERANK_KEY",
    # KB_TOKEN and KB_TOKENS_FILE are no settings either: see http/tokens.py
)


class Settings(NamedTuple):
    """`search_default_top` is `search.default_top` in kb.toml and KB_SEARCH_DEFAULT_TOP."""

    search_profile: str = "best"
    search_default_top: int = 0
    search_calibrate_after: float = 60.0
    search_daemon: str = "auto"
    search_daemon_idle: float = 900.0
    index_max_file_mb: int = 20
    index_hidden: bool = False
    index_types: tuple[str, ...] = ()
    index_watch: tuple[str, ...] = ()
    read_timeout: float = 20.0
    read_memory_mb: int = 1024
    read_max_chunks: int = 20_000
    read_max_data_kb: int = 1024
    read_ocr: str = "auto"
    read_ocr_timeout: float = 120.0
    read_ocr_pages: int = 200
    chunk_max_tokens: int = 512
    chunk_overlap: float = 0.1
    chunk_min_overlap: int = 50
    embed_vectors: bool = True
    embed_background: bool = True
    embed_model: str = ""
    embed_threads: int = 0
    embed_providers: tuple[str, ...] = ()
    embed_pooling: str = ""
    embed_query_prefix: str = ""
    embed_document_prefix: str = ""
    embed_max_tokens: int = 0
    embed_dimensions: int = 0
    embed_url: str = ""
    embed_batch: int = 32
    embed_concurrency: int = 4
    embed_timeout: float = 60.0
    embed_query_timeout: float = 10.0
    embed_cache_mb: int = 512
    rerank_model: str = ""
    rerank_url: str = ""
    rerank_top: int = 30
    rerank_budget: float = 0.5
    rerank_max_tokens: int = 256
    store_busy_timeout: float = 20.0
    store_statement_timeout: float = 60.0
    store_vector_index: str = "hnsw"
    store_index_after: int = 20_000
    base_read: tuple[str, ...] = ()
    base_read_lag: float = 10.0
    eval_cache: str = ""
    history_keep: tuple[str, ...] = ("1y",)
    history_prune: bool = False
    graph_code_pattern: str = r"\b[A-Z][A-Z0-9]+-(?:[A-Z]+-)?\d+\b"
    graph_similarity: float = 0.8
    graph_most_similar: int = 20
    graph_query_timeout: float = 10.0
    graph_query_memory_mb: int = 512
    serve_host: str = "127.0.0.1"
    serve_port: int = 8620
    serve_hosts: tuple[str, ...] = ()
    serve_origins: tuple[str, ...] = ()
    serve_workers: int = 8
    serve_processes: int = 1
    serve_waiting: int = 64
    serve_connections: int = 1000
    serve_client_connections: int = 250
    serve_header_timeout: float = 10.0
    serve_timeout: float = 30.0
    serve_max_request_kb: int = 4096
    serve_shutdown: float = 30.0
    serve_log: str = "text"
    serve_log_level: str = "requests"
    serve_cypher: bool = False
    serve_tools: tuple[str, ...] = ()
    serve_url: str = ""
    serve_oauth_issuer: str = ""
    serve_oauth_keys: str = ""
    serve_oauth_audience: tuple[str, ...] = ()
    serve_oauth_scope_claim: str = "scope"
    serve_oauth_read: str = "kb:read"
    serve_oauth_write: str = "kb:write"
    serve_oauth_project_claim: str = ""


class About(NamedTuple):
    """What a setting is for, and what it may be."""

    text: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()


POOLINGS = ("", "mean", "cls", "last")
ABOUT: dict[str, About] = {
    "search_profile": About("the ranking recipe; see kb profiles"),
    "search_default_top": About(
        "how many hits a search returns; 0: what the profile says", 0, 1000
    ),
    "search_calibrate_after": About(
        "seconds without work after which kb serve, kb mcp and kb watch learn how answers of this"
        " base look (kb calibrate); 0: never",
        0,
        86400,
    ),
    "search_daemon": About(
        "whether kb search and kb mcp leave a process behind that has the model loaded, for the"
        " next ones; auto: on Linux, and not where CI is set",
        choices=("auto", "on", "off"),
    ),
    "search_daemon_idle": About("seconds without a search after which it ends", 1, 86400),
    "index_max_file_mb": About("larger files are skipped, and said", 1, 4096),
    "index_hidden": About("also read files and folders whose name starts with a dot"),
    "index_types": About("further document types, beside the built-in ones"),
    "index_watch": About("sources that kb serve keeps in step with the disk, as kb watch does"),
    "read_timeout": About("seconds for reading one file, and 2 more a megabyte", 0.1, 3600),
    "read_memory_mb": About("memory for reading one file, where the system can tell", 256, 65536),
    "read_max_chunks": About("the most chunks of one file; what is left out is said", 1, 1000000),
    "read_max_data_kb": About("how much of one table or data file is read", 1, 1000000),
    "read_ocr": About(
        "text in images and scanned pages of PDFs: auto reads it once knowbase[ocr] is installed",
        choices=("auto", "off"),
    ),
    "read_ocr_timeout": About("seconds for one image or scanned page", 1, 3600),
    "read_ocr_pages": About("the most scanned pages of one file; the rest is said", 1, 100000),
    "chunk_max_tokens": About("a longer section is split", 128, 512),
    "chunk_overlap": About("how much of a piece the next one repeats", 0.0, 0.5),
    "chunk_min_overlap": About("the least number of tokens repeated", 0, 64),
    "embed_vectors": About("whether vectors are made and used; without, words alone find"),
    "embed_background": About(
        "whether kb serve, kb mcp and kb watch make vectors that are missing"
    ),
    "embed_model": About("the model of new bases and of kb embed; see kb models"),
    "embed_threads": About("threads that embed; 0: one a core", 0, 256),
    "embed_providers": About(
        "what computes, by preference, as onnxruntime calls it: cuda, coreml, directml; the CPU"
        " does the rest"
    ),
    "embed_pooling": About("mean, cls or last; else as the model's folder says", choices=POOLINGS),
    "embed_query_prefix": About("what a query starts with; else as the model wants it; or none"),
    "embed_document_prefix": About("what a text starts with; else as the model wants it; or none"),
    "embed_max_tokens": About("cut longer texts; 0: as the model's folder says", 0, 32768),
    "embed_dimensions": About("ask a service for shorter vectors; 0: as they are", 0, 8192),
    "embed_url": About("the address of an embedding service; its key is in KB_EMBED_KEY"),
    "embed_batch": About("texts in one request to a service", 1, 2048),
    "embed_concurrency": About("requests to a service at the same time", 1, 64),
    "embed_timeout": About("seconds for one request, retries included", 1, 3600),
    "embed_query_timeout": About("seconds for a search's query, retries included", 0.1, 600),
    "embed_cache_mb": About("the most that this user's cache of vectors holds; 0: none", 0, 65536),
    "rerank_model": About(
        "what looks at the first hits a second time: a folder with a cross-encoder,"
        " knowbase_reranker, service:NAME or tei:NAME; empty: nothing does"
    ),
    "rerank_url": About("the address of a service with /rerank; its key is in KB_RERANK_KEY"),
    "rerank_top": About("how many hits it looks at", 2, 200),
    "rerank_budget": About(
        "seconds for that; as many hits as fit, the others keep their places", 0.01, 60
    ),
    "rerank_max_tokens": About("of a query and a text together; the rest is not read", 16, 8192),
    "store_busy_timeout": About("seconds to wait for another writer", 0, 600),
    "store_statement_timeout": About(
        "seconds for one query in PostgreSQL; long work such as an index may take longer; 0: any",
        0,
        86400,
    ),
    "store_vector_index": About(
        "the index for vectors in PostgreSQL, made when they are many: hnsw, ivfflat or none",
        choices=("hnsw", "ivfflat", "none"),
    ),
    "store_index_after": About(
        "a base in a file with so many vectors, or chunks, gets an index of them; 0: never",
        0,
        1000000000,
    ),
    "base_read": About(
        "replicas of a base in PostgreSQL that answer searches: their URLs, tried in turn"
    ),
    "base_read_lag": About("seconds that such an answer may lag", 0, 86400),
    "eval_cache": About("where kb eval keeps indexed corpora; empty: the user's cache folder"),
    "history_keep": About(
        "for how long versions are kept: forever, off, a time, a number; type:commit=off and"
        " source:docs=30d for some"
    ),
    "history_prune": About("kb sync gives up the versions that are older than history.keep says"),
    "graph_code_pattern": About("what looks like a code in a text: a regular expression"),
    "graph_similarity": About("chunks more alike than this link their documents", 0.0, 1.0),
    "graph_most_similar": About(
        "a document is linked with so many of the most similar ones, and with those whose it is",
        1,
        1000,
    ),
    "graph_query_timeout": About("seconds for a query in Cypher", 0.1, 3600),
    "graph_query_memory_mb": About("memory for a query in Cypher", 256, 65536),
    "serve_host": About("the address of kb serve; other than loopback, it wants a token"),
    "serve_port": About("its port; 0: any that is free", 0, 65535),
    "serve_hosts": About("further names that the server is called by, such as kb.example.com"),
    "serve_origins": About("pages of these origins may ask it (CORS): https://wiki.example.com"),
    "serve_workers": About("requests worked on at the same time", 1, 256),
    "serve_processes": About("processes that search for clients of kb serve; 1: its own", 1, 64),
    "serve_waiting": About("requests that may wait for that; further ones are refused", 0, 65536),
    "serve_connections": About(
        "connections at the same time; one that waits makes room for a new one", 1, 65536
    ),
    "serve_client_connections": About(
        "of these, how many one address may have; behind a proxy: as many as serve.connections",
        1,
        65536,
    ),
    "serve_header_timeout": About("seconds for a request's headers to arrive", 0.1, 3600),
    "serve_timeout": About("seconds for one request, and for it to arrive", 0.1, 3600),
    "serve_max_request_kb": About(
        "a larger request is refused; what takes no long text has its own, lower bound", 1, 1048576
    ),
    "serve_shutdown": About("seconds for what is under way when the server is stopped", 0, 3600),
    "serve_log": About("the form of the log of kb serve and kb mcp", choices=FORMATS),
    "serve_log_level": About(
        "what it has: requests is one line a request, warnings and errors; info and debug also"
        " have each part of a search",
        choices=LEVELS,
    ),
    "serve_tools": About(
        "the tools of agents at /mcp, by name; or default, all, chatgpt: see docs/agents.md"
    ),
    "serve_cypher": About("whether those whom the base is served to may ask in Cypher"),
    "serve_url": About("the address that clients know it by, such as https://kb.example.com"),
    "serve_oauth_issuer": About("tokens of this authorization server are good here; its address"),
    "serve_oauth_keys": About("where its keys are (JWKS); else where its metadata says"),
    "serve_oauth_audience": About("whom its tokens are for; else serve.url and serve.url/mcp"),
    "serve_oauth_scope_claim": About("the claim that has the scopes"),
    "serve_oauth_read": About("the scope for reading"),
    "serve_oauth_write": About("the scope for writing, which is reading, too"),
    "serve_oauth_project_claim": About(
        "the claim that has the one project of a token, or * for all; empty: every token has all"
    ),
}

DEFAULTS = Settings()


class Configuration(NamedTuple):
    """The settings in force, and for each where it comes from."""

    settings: Settings
    origins: Mapping[str, str]
    profiles: Mapping[str, Any]  # the tables [profiles.NAME] of kb.toml, not yet checked
    folder: str = ""  # where kb.toml lies, or would: where relative paths in it start


def dotted(name: str) -> str:
    """search_default_top → search.default_top."""
    return name.replace("_", ".", 1)


def is_for_the_command(key: str) -> bool:
    """Whether no server changes a setting for anybody: it decides who is let in, or where texts
    are sent."""
    name = key.strip(". ").replace(".", "_").lower()
    return name.startswith(("serve_", "base_")) or name.endswith("_url")


def load(folder: str | None, environment: Mapping[str, str]) -> Configuration:
    """What kb.toml in `folder` and the environment say."""
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings._fields, "default")
    tables = _read(folder)
    profiles = tables.pop("profiles", {})
    if not isinstance(profiles, dict):
        raise InvalidInput(f"{FILE_NAME}: profiles must be tables", field="profiles")
    for name, value, origin in (*_from_file(tables), *_from_environment(environment)):
        values[name] = _checked(name, value, origin)
        origins[name] = origin
    return Configuration(DEFAULTS._replace(**values), origins, profiles, folder or "")


def _read(folder: str | None) -> dict[str, Any]:
    path = os.path.join(folder, FILE_NAME) if folder else ""
    if not path or not os.path.exists(path):
        return {}
    import tomllib

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidInput(f"{FILE_NAME}: {error}", field=FILE_NAME) from error


def _from_file(tables: Mapping[str, Any]) -> list[tuple[str, Any, str]]:
    return [
        (_known(f"{section}.{key}", FILE_NAME), value, FILE_NAME)
        for section, table in tables.items()
        for key, value in (table.items() if isinstance(table, dict) else [("", table)])
    ]


def _from_environment(environment: Mapping[str, str]) -> list[tuple[str, Any, str]]:
    sections = tuple({f"KB_{name.split('_')[0].upper()}_" for name in Settings._fields})
    return [
        (_known(dotted(variable[3:].lower()), variable), value, variable)
        for variable, value in sorted(environment.items())
        if variable.startswith(sections) and variable not in OTHERS
    ]


def name_of(key: str) -> str:
    """The setting that is called so: search.default_top → search_default_top."""
    return _known(key, "")


def read_value(name: str, text: str) -> Any:
    """The value that a text stands for, as in the environment."""
    return _checked(name, text, "")


def _from(origin: str) -> str:
    """Where a setting stands, before what is said of it; nothing where somebody is typing it."""
    return f"{origin}: " if origin else ""


def _known(key: str, origin: str) -> str:
    name = key.rstrip(".").replace(".", "_", 1)
    section, _, rest = name.partition("_")
    if section in ("embed", "rerank") and rest in ("key", "api_key"):
        variable = f"KB_{section.upper()}_KEY"
        raise InvalidInput(
            f"{_from(origin)}a key is not a setting",
            field=f"{section}.key",
            hint=f"put it into {variable}",
        )
    if name not in Settings._fields:
        from difflib import get_close_matches

        near = get_close_matches(key, map(dotted, Settings._fields), n=1)
        raise InvalidInput(
            f"{_from(origin)}unknown setting {key.rstrip('.')!r}",
            field=key.rstrip("."),
            hint=f"the nearest is {near[0]}" if near else "kb config shows them all",
        )
    return name


def _checked(name: str, value: Any, origin: str) -> Any:
    """The value with the type of the default, within its bounds."""
    about, default = ABOUT[name], getattr(DEFAULTS, name)
    if name in ("embed_url", "rerank_url") and any(sign in str(value) for sign in "@?#"):
        raise InvalidInput(
            f"{_from(origin)}{dotted(name)} cannot hold a name, a password or a key",
            field=dotted(name),
            hint=f"put the key into KB_{name.partition('_')[0].upper()}_KEY",
        )
    try:
        given = _from_text(value, type(default)) if isinstance(value, str) else value
        return fitted(Kind(type(default), about.least, about.most, about.choices), given)
    except Unfit as error:
        raise _refusal(name, error.value, origin, error.expected) from None


def _from_text(text: str, wanted: type) -> Any:
    """What a variable of the environment says."""
    if wanted is bool:
        return read_flag(text)
    return text.split(",") if wanted is tuple else text


def _refusal(name: str, value: object, origin: str, expected: str) -> InvalidInput:
    return InvalidInput(
        f"{_from(origin)}{dotted(name)} cannot be {value!r}", field=dotted(name), hint=expected
    )
