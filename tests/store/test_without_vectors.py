"""With vectors switched off, words are read and written as ever."""

from conftest import Kb


def test_vectors_can_be_switched_off(kb: Kb) -> None:
    """S0-28: one setting, and everything works by words."""
    kb.write("kb.toml", "[embed]\nvectors = false\n")
    kb.write("docs/a.md", "# Zebra\n\nStripes.\n")
    report = kb.json("add", "docs")
    assert (report["chunks_embedded"], report["chunks_waiting"], report["warnings"]) == (0, 0, [])
    assert kb.json("remember", "Zebras cross on Fridays.")["notices"] == []
    found = kb.json("search", "zebra")
    assert found["returned"] == 2
    assert (found["search_modes_used"], found["fallback_mode"]) == (["keyword"], False)
    assert found["notices"] == []
    assert "embed.vectors" in kb.error("search", "zebra", "--vec-only", code=5)
    assert "embed.vectors" in kb.json("search", "similar:horse")["notices"][0]
    assert "embed.vectors" in kb.error("embed", code=5)
    assert kb.json("status")["embedded"] == 0
    (kb.folder / "kb.toml").unlink()
    assert kb.json("embed")["embedded"] == 2
    off = {"KB_EMBED_VECTORS": "false"}
    assert kb.json("search", "stripes", env=off)["search_modes_used"] == ["keyword"]
