"""/docs: the API as a page that asks nobody for anything."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import knowbase
from knowbase.http.openapi import document
from knowbase.http.reference import page
from knowbase.http.served import methods_of, served
from servers import serving

TOKEN = "a token that nobody would guess"


class Tags(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_names_every_operation_and_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    """Under a policy that allows its one style alone, and without a token: it tells nothing of
    the base."""
    knowbase.create(str(tmp_path)).close()
    env = {"KB_TOKEN": TOKEN, "KB_SERVE_URL": "https://kb.example.com", "KB_INDEX_TYPES": "recipe"}
    with serving(tmp_path, env=env) as server:
        response = server.client.get("/docs")
        described = server.client.get("/openapi.json").json()
        again = server.client.get("/docs", headers={"If-None-Match": response.headers["etag"]})
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert again.status_code == 304
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    style = re.search(r"<style>(.*?)</style>", response.text, re.S)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy
    shown = Tags(response.text)
    assert not {"script", "link", "img", "iframe", "form"} & set(shown.tags)
    assert not [name for name, _ in shown.attributes if name.startswith("on") or name == "style"]
    assert [value for name, value in shown.attributes if name == "href"] == ["openapi.json"]
    for path, operation in served().items():
        assert path in shown.text
        assert operation.summary in shown.text
        assert len(methods_of(operation)) == len(described["paths"][path])
    assert described["servers"] == [{"url": "https://kb.example.com"}]
    kinds = described["paths"]["/api/search"]["post"]["requestBody"]["content"]
    asked = kinds["application/json"]["schema"]["properties"]
    assert "recipe" in asked["type"]["items"]["enum"]
    assert "best" in asked["profile"]["enum"]


def test_what_a_description_says_is_text_of_the_page() -> None:
    described = document()
    wicked = "</details><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"
    described["info"]["title"] = described["info"]["description"] = wicked
    search = described["paths"]["/api/search"]
    search["get"]["summary"] = wicked
    search["get"]["parameters"][0] |= {"name": wicked, "description": wicked}
    search["get"]["operationId"] = wicked
    described["paths"][wicked] = search
    shown = Tags(page(described))
    assert not {"script", "img"} & set(shown.tags)
    assert not [name for name, _ in shown.attributes if name.startswith("on")]
    assert wicked in shown.text
