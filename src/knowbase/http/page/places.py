"""Which addresses are the page's."""

from knowbase.http.page.bundle import PREFIX

BY_SCRIPT = {
    "/g": "Graph", "/t": "Timeline", "/inbox": "Memory inbox", "/health-page": "Base health",
    "/settings": "Settings",
}  # fmt: skip
STRANGER = "knowbase.stranger"
"""In the scope of a request for a page by somebody who has not said who they are."""


def is_page(path: str) -> bool:
    """Whether a browser goes there: such an address is opened without a token, and then says
    nothing of the base."""
    return path == "/" or path in BY_SCRIPT or path.startswith(("/d/", "/g/"))


def route_of(path: str) -> str | None:
    """What a path of the page is counted as."""
    if path.startswith(PREFIX):
        return PREFIX
    return f"/{path[1:].partition('/')[0]}" if is_page(path) else None
