"""Documents that want something of whoever reads them: scripts, disguises, sheer size."""

from pathlib import Path

from servers import Served

BEACON = "http://evil.example/beacon"
SCRIPTS = f"""# <img src=x onerror="window.hurt=1"> title

<script>window.hurt = 1</script>
<img src="{BEACON}.png" onerror="window.hurt=1">
<svg onload="window.hurt=1"><a xlink:href="javascript:window.hurt=1">x</a></svg>
<iframe src="javascript:parent.hurt=1"></iframe>
<style>body {{ background: url({BEACON}.css) }}</style>
<meta http-equiv="refresh" content="0;url={BEACON}">
<base href="http://evil.example/">

[a link](javascript:window.hurt=1) and [another](data:text/html,<script>window.hurt=1</script>)
and [spaced]( java&#x73;cript:window.hurt=1 ) and <javascript:window.hurt=1>, quarrelsome all.

![picture]({BEACON}.jpg) ![one](javascript:window.hurt=1)

[reference][evil] "><script>window.hurt=1</script>

[evil]: javascript:window.hurt=1 "title\\" onmouseover=window.hurt=1"

```html
</pre></code><script>window.hurt = 1</script>
```

{{{{constructor.constructor('window.hurt=1')()}}}} ${{window.hurt=1}} </textarea></title></noscript>
<mark onclick="window.hurt=1">quarrelsome</mark>
"""
FRONT = """---
title: '"><script>window.hurt=1</script>'
tags: ['"><img src=x onerror=window.hurt=1>', '\u202egnirts', javascript]
description: '<b onmouseover=window.hurt=1>quarrelsome</b>'
---

Front matter that is quarrelsome.
"""
BIDI = (
    "# \u202eelbatius ton\u202c invoice\u2066\u2069\n\nquarrelsome \u202e\u2066 text \u2069\u202c "
    "and \u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd and "
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645.\n"
)
HOMOGRAPH = (
    "# \u0420\u0430ypal\n\n[paypal.com](https://\u0440\u0430ypal.example/) is quarrelsome.\n"
)
RIGHT_TO_LEFT = (
    "# \u05d4\u05d5\u05e8\u05d0\u05d5\u05ea\n\n"
    + "\u05e9\u05dc\u05d5\u05dd quarrelsome " * 40
    + "\n"
)
CODE = """'</pre><script>window.hurt=1</script>'


def quarrelsome():
    return "<img src=x onerror=window.hurt=1>"
"""


HURT = '"><script>window.hurt=1</script><img src=x onerror=window.hurt=1>'
VERSIONS = (
    f"# Plan {HURT}\n\nquarrelsome monday {HURT} [[gone {HURT}]] [x](javascript:window.hurt=1)\n",
    f"# Plan {HURT}\n\nquarrelsome friday <svg onload=window.hurt=1> {HURT} \u202eyad\u202c\n",
    f"# Plan \u202e{HURT}\n\nquarrelsome friday {'<b onclick=window.hurt=1>' * 400} {HURT}\n",
)


def live(site: Served) -> None:
    """A life of notes, memories and sessions whose every name is a script: N-1 has versions."""
    site.json("note", text=VERSIONS[0], code="N-1", tags=[HURT, "javascript:window.hurt=1"])
    for text in VERSIONS[1:]:
        site.json("note", text=text, replace="N-1")
    for code in ("N-2", "N-3"):
        site.json("note", text=f"# Old {code} {HURT}\n\nquarrelsome", code=code)
    site.json("supersede", old="N-2", new="N-1")
    site.json("rm", references=["N-3"])
    session = {"session": HURT, "project": HURT}
    site.json("session start", **session)
    for day in ("Tuesdays", "Thursdays"):
        text = f"Deploys {HURT} happen on {day} <iframe src={BEACON}>, after {HURT} have passed."
        site.json("remember", text=text, type="decision", **session)
    site.json("remember", text=f"Ends {HURT}", ttl="2d", project=HURT)
    site.json("session end", session=HURT, summary=f"We decided {HURT}")
    site.json("saved add", name="hurt", query=f"quarrelsome {HURT}")


def write(folder: Path) -> None:
    """The folder of them."""
    folder.mkdir(parents=True)
    (folder / "scripts.md").write_text(SCRIPTS)
    (folder / "front.md").write_text(FRONT)
    (folder / "bidi.md").write_text(BIDI)
    (folder / "homograph.md").write_text(HOMOGRAPH)
    (folder / "rtl.md").write_text(RIGHT_TO_LEFT)
    (folder / "code.py").write_text(CODE)
    (folder / "long-title.md").write_text(f"# {'long title ' * 180}\n\nIt is quarrelsome.\n")
    (folder / "one-line.md").write_text("# One line\n\nquarrelsome " + "x" * 200_000 + "\n")
    (folder / "x<b onload=alert(1)>.md").write_text("# A name\n\nquarrelsome name.\n")
    nested = "> " * 300 + "quarrelsome\n\n" + "- " * 300 + "deep\n"
    (folder / "nested.md").write_text(f"# Nested\n\n{nested}")
    (folder / "huge.md").write_text("# Huge\n\n" + "".join(_paragraph(n) for n in range(6000)))


def _paragraph(number: int) -> str:
    head = f"## Part {number}\n\n" if number % 20 == 0 else ""
    return (
        f"{head}Paragraph {number} tells of rivers, mountains and the weather of day {number}.\n\n"
    )
