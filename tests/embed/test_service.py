"""Embedding services over HTTP: a real server that misbehaves in every way."""

import logging
import math
import socket
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest

import services
from knowbase.embed.http import RETRIES, Client, client_for
from knowbase.embed.service import Pace, Service, Wanted
from knowbase.errors import BadVector, ServiceUnavailable
from knowbase.values.vectors import Model, normalize_embedding, pack, unpack
from services import Trick, counted, dripping, garbage, half, reset, slow, status

KEY = "sk-a-secret-that-nobody-sees"


@pytest.fixture
def server() -> Iterator[services.Service]:
    with services.service() as running:
        yield running


SOME = Wanted("some-model")
USUAL = Pace()


def embedder(server: services.Service, wanted: Wanted = SOME, pace: Pace = USUAL) -> Service:
    return Service(wanted, lambda: Client(server.url, lambda: ""), pace)


def expected(text: str) -> bytes:
    return pack(normalize_embedding(counted([text])[0]))


def test_vectors_come_from_the_service_in_the_order_of_the_texts(
    server: services.Service,
) -> None:
    """S3-23"""
    made = embedder(server)
    assert made.model == Model("some-model", made.model.revision, 8)
    texts = [f"text number {n} of a test" for n in range(100)]
    assert list(made.embed_documents(texts)) == [expected(text) for text in texts]
    assert made.embed_query("a question") == expected("a question")
    assert {one.path for one in server.asked} == {"/v1/embeddings"}
    assert {one.body["model"] for one in server.asked} == {"some-model"}
    assert all(one.key is None for one in server.asked)


def test_texts_go_in_batches_a_few_at_a_time(server: services.Service) -> None:
    made = embedder(server, pace=Pace(batch=10, concurrency=3))
    made.model  # noqa: B018 - the probe
    server.asked.clear()
    server.always = slow(0.05)
    list(made.embed_documents([f"text {n}" for n in range(95)]))
    sizes = sorted(len(one.body["input"]) for one in server.asked)
    assert sizes == [5, *[10] * 9]
    assert 1 < server.most_together <= 3


def test_prefixes_and_dimensions_are_sent(server: services.Service) -> None:
    wanted = Wanted("m", "search_query: ", "search_document: ", dimensions=8)
    made = embedder(server, wanted)
    made.embed_query("a")
    list(made.embed_documents(["b"]))
    assert server.texts == ["search_query: a", "search_document: b"]
    assert {one.body["dimensions"] for one in server.asked} == {8}
    other = embedder(server, wanted._replace(query_prefix=""))
    assert other.model.revision != made.model.revision


def test_an_empty_text_is_sent_as_one_that_services_accept(server: services.Service) -> None:
    made = embedder(server)
    [vector] = made.embed_documents(["  "])
    assert vector == expected("(empty)")


PASSING: dict[str, Trick] = {
    "busy": status(429, "slow down"),
    "failing": status(500),
    "restarting": status(503),
    "reset": reset,
    "garbage": garbage,
    "half an answer": half,
}


@pytest.mark.parametrize("trick", PASSING.values(), ids=PASSING)
def test_what_may_pass_is_tried_again(server: services.Service, trick: Trick) -> None:
    """S4-03: three retries."""
    made = embedder(server, Wanted("m", dimensions=8))
    server.tricks = [trick] * RETRIES
    assert made.embed_query("a question") == expected("a question")
    assert len(server.asked) == RETRIES + 1


@pytest.mark.parametrize("trick", PASSING.values(), ids=PASSING)
def test_after_three_retries_it_is_given_up_and_said(
    server: services.Service, trick: Trick, caplog: pytest.LogCaptureFixture
) -> None:
    """S4-03, S4-19: how often it was tried is told; where it is, is for the log alone."""
    server.always = trick
    with pytest.raises(ServiceUnavailable, match=r"gives no answer: .*\(3 retries\)") as refusal:
        embedder(server).embed_query("a question")
    assert len(server.asked) == RETRIES + 1
    assert refusal.value.field == "embed.url"
    address = server.url.removeprefix("http://").removesuffix("/v1")
    assert address not in str(refusal.value.as_dict())
    failed = next(
        one for one in caplog.records if one.getMessage().startswith("embedding service failed")
    )
    assert failed.facts["retries"] == RETRIES  # type: ignore[attr-defined]
    assert failed.facts["address"] == address  # type: ignore[attr-defined]


def test_each_wait_is_longer_than_the_one_before_and_never_the_same_twice(
    server: services.Service,
) -> None:
    """S4-03: exponential backoff with jitter."""
    server.always = status(500)
    waits: list[list[float]] = []
    for _ in range(5):
        waited: list[float] = []
        with pytest.raises(ServiceUnavailable):
            Client(server.url, lambda: "", waited.append).post("/embeddings", {"input": []}, 60)
        waits.append(waited)
    assert all(len(waited) == RETRIES for waited in waits)
    for place in range(RETRIES):
        nth = [waited[place] for waited in waits]
        assert all(0.5 * 2**place <= wait / 0.25 <= 1.5 * 2**place for wait in nth)
        assert len(set(nth)) > 1
    for shorter, longer in pairwise(range(RETRIES)):
        assert max(w[longer] for w in waits) > min(w[shorter] for w in waits)


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_service_says_how_long_to_wait(server: services.Service, form: str) -> None:
    from email.utils import formatdate

    said = "7" if form == "seconds" else formatdate(time.time() + 8, usegmt=True)
    server.tricks = [status(429, Retry_After=said)]
    waited: list[float] = []
    asking = Client(server.url, lambda: "", waited.append)
    asking.post("/embeddings", {"input": ["a"]}, 60)
    assert 6 <= waited[0] <= 8


def test_a_wait_beyond_the_time_budget_is_not_begun(server: services.Service) -> None:
    """S4-08"""
    server.always = status(429, Retry_After="120")
    waited: list[float] = []
    with pytest.raises(ServiceUnavailable, match=r"HTTP 429 \(0 retries\)"):
        Client(server.url, lambda: "", waited.append).post("/embeddings", {"input": ["a"]}, 60)
    assert waited == []


@pytest.mark.parametrize("trick", [slow(30), dripping], ids=["silent", "dripping"])
def test_a_service_that_takes_for_ever_is_left_at_the_end_of_the_budget(
    server: services.Service, trick: Trick
) -> None:
    """S4-08"""
    server.always = trick
    with pytest.raises(ServiceUnavailable, match=r"timed out|too long"):
        embedder(server, Wanted("m", dimensions=8), Pace(query_timeout=0.5)).embed_query("a")


def test_nobody_listening_is_said(server: services.Service) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    away = Client(url, lambda: "", lambda _: None)
    with pytest.raises(ServiceUnavailable, match="Connection refused"):
        Service(Wanted("m"), lambda: away, Pace()).embed_query("a")


@pytest.mark.parametrize("code", [400, 401, 403, 404, 307])
def test_what_does_not_pass_is_not_tried_again(server: services.Service, code: int) -> None:
    server.always = status(code, '{"error": "no such model"}', Location=server.url)
    with pytest.raises(ServiceUnavailable, match=f"HTTP {code}$") as refusal:
        embedder(server).embed_query("a")
    assert len(server.asked) == 1
    assert "no such model" in str(refusal.value.__cause__)  # for the log


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        ([1.0] * 7, "7 dimensions instead of 8"),
        ([math.nan] + [1.0] * 7, "NaN"),
        ([math.inf] + [1.0] * 7, "infinite"),
        ([0.0] * 8, "all zeros"),
    ],
)
def test_a_vector_that_cannot_be_used_is_refused(
    server: services.Service, vector: list[float], reason: str
) -> None:
    made = embedder(server)
    assert made.model.dimensions == 8
    server.embed = lambda texts: [vector for _ in texts]
    with pytest.raises(BadVector, match=reason):
        made.embed_query("a")
    with pytest.raises(BadVector, match=reason):
        list(made.embed_documents(["a", "b"]))


@pytest.mark.parametrize(
    "answer",
    ["[]", '{"data": []}', '{"data": [{"index": 1, "embedding": [1]}]}', '{"data": [{"index": 0}]}',
     '{"data": [{"index": 0, "embedding": ["a"]}]}', '{"error": "loading"}'],
)  # fmt: skip
def test_an_answer_of_another_shape_is_refused(server: services.Service, answer: str) -> None:
    server.always = status(200, answer)
    with pytest.raises(ServiceUnavailable, match="something else than a vector a text"):
        embedder(server, Wanted("m", dimensions=1)).embed_query("a")


def test_a_failing_batch_ends_the_rest(server: services.Service) -> None:
    made = embedder(server, Wanted("m", dimensions=8), Pace(batch=1, concurrency=1))
    server.tricks = [slow(0), status(400)]
    coming = made.embed_documents(["a", "b", "c", "d"])
    assert next(coming) == expected("a")
    with pytest.raises(ServiceUnavailable):
        next(coming)
    assert len(server.asked) <= 3


def test_the_key_is_sent_and_shown_nowhere(
    server: services.Service, caplog: pytest.LogCaptureFixture
) -> None:
    """C32: also when the service repeats it in its errors."""
    caplog.set_level(logging.DEBUG)
    asking = client_for(server.url, {"KB_EMBED_KEY": KEY})
    made = Service(Wanted("m", dimensions=8), lambda: asking, Pace())
    made.embed_query("a")
    assert server.asked[0].key == f"Bearer {KEY}"
    server.always = status(500, f"bad key {KEY} and sk-another-secret-123")
    with pytest.raises(ServiceUnavailable) as refusal:
        made.embed_query("a")
    shown = f"{asking!r} {vars(made)} {refusal.value.as_dict()} {caplog.text}"
    assert "said='bad key … and …'" in shown
    assert KEY not in shown
    assert "another-secret" not in shown


def test_which_key_goes_where() -> None:
    """C32: OpenAI's key goes to OpenAI alone, and no key goes over plain http."""
    both = {"OPENAI_API_KEY": "sk-openai", "KB_EMBED_KEY": "own"}
    assert client_for("https://api.openai.com/v1", both).key() == "own"
    assert client_for("https://api.openai.com/v1", {"OPENAI_API_KEY": "sk-o"}).key() == "sk-o"
    assert client_for("https://elsewhere.example/v1", {"OPENAI_API_KEY": "sk-o"}).key() == ""
    assert client_for("http://localhost:11434/v1", {"KB_EMBED_KEY": "own"}).key() == "own"
    with pytest.raises(ServiceUnavailable, match="not sent over plain http"):
        client_for("http://elsewhere.example/v1", {"KB_EMBED_KEY": "own"})
    for address in ("", "ftp://x/v1", "localhost:11434"):
        with pytest.raises(ServiceUnavailable) as refusal:
            client_for(address, {})
        assert refusal.value.field == "embed.url"


def test_the_packaged_model_behind_a_service_gives_the_packaged_models_vectors(
    server: services.Service,
) -> None:
    """S3-23"""
    from knowbase.embed.granite import Granite

    server.embed = services.packaged()
    texts = ["short", "a longer text about deploys"]
    found = [unpack(vector) for vector in embedder(server).embed_documents(texts)]
    for one, other in zip(found, Granite().embed_documents(texts), strict=True):
        assert one == pytest.approx(unpack(other), abs=1e-6)
