"""Files to be read: honest ones of every format, ways to spoil them, and hostile families."""

import random
import zlib
from collections.abc import Callable, Sequence

from conftest import FIXTURES

MOST = 2_000_000  # bytes of a hostile file
LENGTHS = (1_000, 20_000, 20_000, 200_000, 200_000, MOST)

CODE = {
    "py": 'import os\n\n\nclass A(B[int]):\n    """Doc."""\n\n    def f(self, x=(1, 2)):\n'
          "        return [y for y in x if y]\n\n\nasync def g(): ...\n",
    "js": "export class A { #x = 1; f(y) { return `a${y}`; } }\nconst g = async (x) => x?.y;\n",
    "ts": "interface A<T extends B> { x: T }\nexport function f<T>(x: A<T>): T { return x.x }\n",
    "tsx": "export const A = (p: P) => <div {...p}>{p.x && <B />}</div>;\n",
    "go": "package a\n\ntype A struct{ x []int }\n\nfunc (a *A) F(x int) (y int) { return x }\n",
    "rs": "mod a { pub struct A<'a, T>(&'a T); impl<T> A<'_, T> { fn f(&self) {} } }\n",
    "java": "package a;\nclass A<T extends B> { @X int f(int x) { return x; } enum C { D } }\n",
    "c": "#define X(a) a##b\nstruct a { int x[3]; };\nint f(int (*g)(void)) { return g(); }\n",
    "cpp": "namespace a { template <class T> class A : B<T> { int f() const { return 1; } }; }\n",
    "h": "#pragma once\ntemplate <typename T> T f(T x);\n",
    "rb": "class A < B\n  def f(x) = x\nend\n",
    "sh": "f() { for x in $(ls); do echo \"$x\"; done; }\n",
}  # fmt: skip
TEXTS = {
    "json": '{"a": [1, 2.5e3, null, {"b": "\\u00e9"}]}',
    "yaml": "a: &x [1, 2]\nb: *x\nc: |\n  text\n",
    "toml": 'a = 1\n[b]\nc = ["d"]\n',
    "csv": 'a,b\n1,"2\n3"\n',
    "txt": "A title\n\nSome words – and more.\n",
    "unknown": "whatever\n",
    "md": "---\ntitle: A\ntags: [x, y]\ncode: A-1\nparent: B-2\nexpires: 2030-01-01\n---\n# A\n\n"
          "Text with **bold**, `code`, [a link](b.md#c), [[wiki|shown]] and #tag.\n\n"
          "- [ ] a task\n  1. one\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n```\n",
    "html": "<!doctype html><html><head><title>A</title><style>b{}</style></head><body><h1>A</h1>"
            "<p>Text &amp; <a href='b.html'>link</a><table><tr><td>1</table><pre>x</pre></body>",
}  # fmt: skip


def pdf(stream: bytes, filters: str = "", kids: str = "4 0 R") -> bytes:
    """A PDF of one page with this content."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count 1 >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]"
        b" /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
        f"<< /Length {len(stream)} {filters} >>\nstream\n".encode() + stream + b"\nendstream",
    ]
    data, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(data)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table
    return data + b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start


def line(text: str) -> bytes:
    return f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()


def seeds() -> list[tuple[str, bytes]]:
    """An honest file of every format: its extension and content."""
    found = [(ending, text.encode()) for ending, text in (CODE | TEXTS).items()]
    found.append(("pdf", pdf(line("Hello there"))))
    found.append(("pdf", pdf(zlib.compress(line("Packed")), "/Filter /FlateDecode")))
    found += [
        (path.suffix[1:], path.read_bytes())
        for path in sorted((FIXTURES / "handbook").rglob("*"))
        if path.is_file() and path.suffix in (".md", ".html", ".py", ".ts", ".go")
    ]
    return found


def spoilt(chance: random.Random, known: Sequence[tuple[str, bytes]]) -> tuple[str, bytes]:
    """A file that began honest; now and then under the name of another format."""
    ending, data = chance.choice(known)
    for _ in range(chance.randrange(1, 5)):
        data = chance.choice(WAYS)(chance, data, chance.choice(known)[1])
    if chance.random() < 0.1:
        ending = chance.choice(known)[0]
    return ending, data[:MOST]


def _flipped(chance: random.Random, data: bytes, _: bytes) -> bytes:
    changed = bytearray(data)
    for _turn in range(chance.randrange(1, 20)):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(chance: random.Random, data: bytes, _: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _removed(chance: random.Random, data: bytes, _: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + data[at + chance.randrange(1, 200) :]


def _doubled(chance: random.Random, data: bytes, _: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    piece = data[at : at + chance.randrange(1, 60)]
    return data[:at] + piece * chance.choice((2, 20, 500)) + data[at:]


def _spliced(chance: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def _planted(chance: random.Random, data: bytes, _: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(PLANTED) * chance.choice((1, 3, 300)) + data[at:]


WAYS: tuple[Callable[[random.Random, bytes, bytes], bytes], ...] = (
    _flipped, _cut, _removed, _doubled, _spliced, _planted,
)  # fmt: skip
PLANTED = (
    b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\xe2\x80\xa8", b"---\n", b"```",
    b"<", b"&#x110000;", b"[[", b"](", b"|", b"#", b"> ", b"\t", b"{", b"(", b'"', b"1:1:", b"*a",
    b"<svg>", b"<template>", b"<!--", b"]]>", "²".encode(), "𝟘".encode(), "\u0301".encode() * 9,
    b"code: \xc2\xb3\n", b"title: !!python/object:os.system\n", b"x: *y\n", b"endstream",
)  # fmt: skip


def hostile(chance: random.Random) -> dict[str, dict[str, bytes]]:
    """Files that are meant to take long, or much: by family, each its files by name."""

    def run(unit: str, length: int | None = None) -> bytes:
        return (unit * ((length or chance.choice(LENGTHS)) // len(unit) + 1)).encode()[:MOST]

    def front(text: bytes) -> bytes:
        return b"---\n" + text + b"\n---\n# A\n\ntext\n"

    one: dict[str, bytes] = {
        f"run of {unit!r}.{ending}": run(unit) for ending, units in RUNS.items() for unit in units
    }
    one |= {
        f"nested generics.{ending}": run("A<", 40_000) + run(">", 20_000)
        for ending in ("java", "ts", "cpp", "rs")
    }
    one |= {
        f"nested {opening}.{ending}": run(opening, 60_000) + run(closing, 60_000)
        for ending in ("py", "js", "go", "rs", "java", "c", "cpp", "ts", "tsx")
        for opening, closing in ("()", "[]", "{}")
    }
    one |= {
        "base-60 numbers.md": front(b"x: " + run("1:")[:-1] + b"1"),
        "nested lists.md": front(b"x: " + run("[", 20_000)),
        "aliases.md": front(_aliases()),
        "code of a digit that is none.md": front("code: ³".encode()),
        "many keys.md": front(b"".join(b"k%d: v\n" % n for n in range(50_000))),
        "many tags.md": front(b"tags: [" + run("a, ", 200_000) + b"]"),
        "headings.md": run("## h\n", MOST),
        "one long line.txt": run("word", MOST),
        "one long word.txt": b"a" * MOST,
        "combining marks.txt": ("e" + "\u0301" * 500_000).encode(),
        "packed pdf.pdf": pdf(
            zlib.compress(line("x") * 400_000, 9), "/Filter /FlateDecode"
        ),
        "pages in a circle.pdf": pdf(line("x"), kids="2 0 R 2 0 R 4 0 R"),
        "deep pdf.pdf": pdf(run("[", 200_000)),
    }  # fmt: skip
    found = {name: {_file_of(name): data} for name, data in one.items()}
    found["gitignore"] = {
        ".gitignore": b"**/a/" * 20 + b"b\n",
        "a/" * 40 + "x.md": b"# A\n",
    }
    return found


RUNS = {
    "md": ("> ", "* ", "- - ", "[", "![", "[](", "*a ", "_*", "`", "<a ", "<!--", "|", "\\", "&",
           "[a]: b\n", "[[a", "](<", "$$", "~~", "1. ", "\t", "#", "a\n===\n", "<?", "[^1]"),
    "html": ("<div>", "<svg><template>", "<a ", "<!--", "<b><i>", "&amp", "&", "<table><tr><td>",
             "<![CDATA[", "<p", "<form>", "<select><option>", "<math><mi>", "<ruby><rt>", "</p>"),
    "py": ("if x:\n ", "(", '"""', "f'{", "lambda:", "-", "@a\n", "x = ", "not ", "def f("),
    "js": ("`${", "=>", "/*", "a?.", "function(", "<a>", "/", "async "),
    "c": ("#if x\n", "*", "(int)", "struct a{", "#define ", "\\\n"),
    "rs": ("r#", "'a ", "!", "<", "/*", "|x|"),
    "json": ("[", '{"a":', '"'),
    "yaml": ("- ", "a: ", "&a ", "? "),
}  # fmt: skip


def _aliases() -> bytes:
    """A few lines that are billions of words once they are put together."""
    lines = ["a0: &a0 [lol, lol, lol]"]
    for number in range(1, 12):
        lines.append(f"a{number}: &a{number} [" + ", ".join([f"*a{number - 1}"] * 9) + "]")
    return "\n".join([*lines, "tags: *a11"]).encode()


def _file_of(name: str) -> str:
    return "hostile." + name.rpartition(".")[2]
