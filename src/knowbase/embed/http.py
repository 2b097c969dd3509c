"""JSON over HTTP to one service: retries with backoff, a time budget, and a key nobody sees."""

import json
import os
import random
import re
import time
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from knowbase.errors import ServiceUnavailable
from knowbase.logs import log
from knowbase.values.hosts import is_loopback

RETRIES = 3
FIRST_WAIT = 0.25  # seconds; each further one is twice as long, give or take a half
AGAIN = (408, 425, 429, 500, 502, 503, 504, 529)
LARGEST_ANSWER = 256 << 20
OPENAI = "api.openai.com"
WHAT = {"embed": "embedding service", "rerank": "reranking service"}
_LOOKS_LIKE_A_KEY = re.compile(r"\b(sk|key|pk|api)[-_][\w-]{8,}", re.I)


class _Failure(Exception):
    """One try that failed; whether another one makes sense, and when.

    The `reason` is for callers. What the service said beside it is for the log alone.
    """

    def __init__(
        self, reason: str, *, said: str = "", again: bool = True, after: float = 0.0
    ) -> None:
        super().__init__(f"{reason}: {said}" if said else reason)
        self.reason, self.said, self.again, self.after = reason, said, again, after


class Client:
    """Posts to one address. The key goes into the request's header and nowhere else."""

    def __init__(
        self,
        url: str,
        key: Callable[[], str],  # not the key itself: no value that is shown may hold it
        sleep: Callable[[float], None] = time.sleep,
        section: str = "embed",  # of the settings
    ) -> None:
        self.url = url
        self.key = key
        self.sleep = sleep
        self.section = section
        self.what = WHAT[section]

    def post(self, path: str, body: Mapping[str, Any], budget: float) -> Any:
        """The answer, after at most three retries and `budget` seconds, all waiting included."""
        data = json.dumps(body).encode()
        deadline = time.monotonic() + budget
        for tried in count():
            try:
                return self._once(path, data, deadline)
            except _Failure as problem:
                wait = max(problem.after, FIRST_WAIT * 2**tried * random.uniform(0.5, 1.5))  # noqa: S311
                in_time = time.monotonic() + wait < deadline
                if not (problem.again and tried < RETRIES and in_time):
                    raise self._given_up(problem, tried) from problem
                log(
                    "info",
                    f"{self.what} asked again",
                    retry=tried + 1,
                    **self._facts(problem),
                )
                self.sleep(wait)
        raise AssertionError("counting never ends")

    def _given_up(self, problem: _Failure, retries: int) -> ServiceUnavailable:
        log("error", f"{self.what} failed", retries=retries, **self._facts(problem))
        told = f" ({retries} retries)" if problem.again else ""
        error = ServiceUnavailable(
            f"the {self.what} gives no answer: {problem.reason}{told}",
            field=f"{self.section}.url",
            hint=f"is it running, and are {self.section}.url, {self.section}.model and"
            f" KB_{self.section.upper()}_KEY right? The log, or --debug, has what it said",
        )
        error.retries = retries
        return error

    def _facts(self, problem: _Failure) -> dict[str, str]:
        """For the log: where it is and what it said reach no caller."""
        facts = {"address": urlsplit(self.url).netloc, "reason": problem.reason}
        return {**facts, "said": problem.said} if problem.said else facts

    def _once(self, path: str, data: bytes, deadline: float) -> Any:
        import http.client
        import urllib.error
        from urllib.request import Request

        headers = {"Content-Type": "application/json", "User-Agent": "knowbase"}
        key = self.key()
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = Request(self.url.rstrip("/") + path, data, headers)  # noqa: S310 - checked
        left = max(0.05, deadline - time.monotonic())
        try:
            with _opener(self.url).open(request, timeout=left) as response:
                return json.loads(_body(response, deadline))
        except urllib.error.HTTPError as error:
            raise self._refused(error, deadline) from None
        except (OSError, http.client.HTTPException) as error:  # URLError is an OSError
            reason = getattr(error, "reason", error)
            raise _Failure(_trouble(reason), said=str(reason)) from None
        except ValueError:
            raise _Failure("it answers with something else than JSON") from None

    def _refused(self, error: Any, deadline: float) -> _Failure:
        try:
            text = _body(error, deadline)[:2000].decode("utf-8", "replace")
        except (OSError, _Failure):
            text = ""
        told = self._without_secrets(" ".join(text.split()))[:200]
        reason = f"HTTP {error.code}"
        if error.code in AGAIN:
            after = _retry_after(error.headers.get("Retry-After"))
            return _Failure(reason, said=told, after=after)
        return _Failure(reason, said=told, again=False)

    def _without_secrets(self, text: str) -> str:
        key = self.key()
        text = text.replace(key, "…") if key else text
        return _LOOKS_LIKE_A_KEY.sub("…", text)


def _trouble(reason: object) -> str:
    """What is wrong with a connection, without where it leads."""
    import socket
    import ssl

    if isinstance(reason, ssl.SSLError):
        return "its certificate is not accepted"
    if isinstance(reason, TimeoutError):
        return "it takes too long"
    if isinstance(reason, socket.gaierror):
        return "its name is not known"
    number = reason.errno if isinstance(reason, OSError) else None
    return os.strerror(number) if number else f"no connection ({type(reason).__name__})"


def _opener(url: str) -> Any:
    """No redirects: a key must not travel to where somebody else points."""
    from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    direct = [ProxyHandler({})] if is_local(url) else []
    return build_opener(Stay, *direct)


def _body(response: Any, deadline: float) -> bytes:
    """All of it, in time: a service that sends a byte a second does not hold us for ever."""
    parts, size = [], 0
    while part := response.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if size > LARGEST_ANSWER:
            raise _Failure("its answer is too large", again=False)
        if time.monotonic() > deadline:
            raise _Failure("its answer takes too long")
    return b"".join(parts)


def _retry_after(value: str | None) -> float:
    """Seconds, from a number or a date."""
    if not value:
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0


def is_local(url: str) -> bool:
    return is_loopback(urlsplit(url).hostname or "")


def client_for(url: str, environment: Mapping[str, str]) -> Client:
    """The client for an address; which key it is sent depends on where it leads."""
    hint = f"https://{OPENAI}/v1, or http://localhost:11434/v1 for Ollama"
    key = environment.get("KB_EMBED_KEY", "")
    if not key and urlsplit(url).hostname == OPENAI:
        key = environment.get("OPENAI_API_KEY", "")
    return _checked_client(url, key, "embed", hint)


def rerank_client(url: str, environment: Mapping[str, str]) -> Client:
    """The client for a service that looks a second time."""
    hint = "https://api.cohere.com/v2, or http://localhost:8080 for TEI"
    return _checked_client(url, environment.get("KB_RERANK_KEY", ""), "rerank", hint)


def _checked_client(url: str, key: str, section: str, hint: str) -> Client:
    field = f"{section}.url"
    if not url:
        raise ServiceUnavailable("a service needs an address", field=field, hint=hint)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ServiceUnavailable(
            f"{field} is not an address", field=field, hint="http://… or https://…"
        )
    if key and parts.scheme == "http" and not is_local(url):
        raise ServiceUnavailable(
            "a key is not sent over plain http", field=field, hint="use https, or no key"
        )
    return Client(url, lambda: key, section=section)
