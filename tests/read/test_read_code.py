"""The source code reader."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowbase.read import read, type_of
from knowbase.read.code import GRAMMARS, read_code
from knowbase.values.reading import Section


def sections(name: str, text: str) -> tuple[Section, ...]:
    return read(name, text.encode()).sections


def headings(name: str, text: str) -> list[str | None]:
    return [section.heading for section in sections(name, text)]


PYTHON = '''"""Module."""

import os

# Why this is here.
# And more.
@decorator
def first(a):
    def nested():
        pass
    return nested


class Shape(Base):
    """A shape."""

    sides = 0

    # The area.
    def area(self):
        return 0

    @property
    async def name(self):
        return ""

    class Inner:
        def deep(self): ...

if os.name == "nt":
    def only_there(): pass
'''


def test_python_is_split_at_functions_classes_and_methods() -> None:
    found = sections("a/shape.py", PYTHON)
    assert [(s.slug, s.heading, s.line) for s in found] == [
        ("_preamble", None, 1),
        ("first", "first", 5),
        ("shape", "Shape", 14),
        ("shape-area", "Shape.area", 19),
        ("shape-name", "Shape.name", 23),
        ("shape-inner", "Shape.Inner", 27),
        ("shape-inner-deep", "Shape.Inner.deep", 28),
        ("only-there", "only_there", 31),
    ]
    assert "".join(s.text for s in found) == PYTHON
    assert all(s.header == "" for s in found)


def test_a_comment_right_under_the_class_line_goes_with_its_method() -> None:
    found = sections("x.py", "class A:\n    # about f\n    def f(self): ...\n")
    assert found[1].text == "    # about f\n    def f(self): ...\n"


def test_a_comment_after_code_stays_with_the_code() -> None:
    assert sections("x.py", "x = 1  # one\ndef f(): ...\n")[0].text == "x = 1  # one\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.js",
            "import x from 'x';\n/** Doc. */\nexport function f() {}\n"
            "export const g = () => {\n};\n"
            "class A {\n  b = 1;\n  c() {}\n  d = () => 1;\n}\n"
            "export default class {\n  e() {}\n}\n"
            "function* h() {}\n",
            [None, "f", "g", "A", "A.c", "A.d", "default", "default.e", "h"],
        ),
        (
            "a.ts",
            "export interface I {\n  a(): void\n}\ntype T = string\nexport enum E { A }\n"
            "@Dec()\nexport abstract class C {\n  constructor() {}\n  @dec\n  m(): void {}\n"
            "  abstract n(): void\n}\nnamespace N {\n  export function f() {}\n}\n"
            "declare function d(): void\n",
            ["I", "T", "E", "C", "C.constructor", "C.m", "C.n", "N", "N.f", "d"],
        ),
        ("a.tsx", "export const App = () => <div/>\n", ["App"]),
        (
            "a.go",
            "package a\n\n// T is.\ntype T struct{ x int }\n\nfunc (t *T) M() {}\n"
            "func (G[K]) N() {}\n"
            "func F() {}\ntype (\n\tA int\n\tB interface{}\n)\n",
            [None, "T", "T.M", "G.N", "F", "A", "B"],
        ),
        (
            "a.rs",
            "use x;\n\n/// Doc.\n#[derive(Debug)]\npub struct S<T> { a: T }\n\nimpl<T> S<T> {\n"
            "    /// New.\n    pub fn new() {}\n}\n"
            "impl fmt::Display for S<u8> {\n    fn fmt() {}\n}\n"
            "trait Q {\n    fn q(&self);\n}\nenum E { A }\n"
            "#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n"
            "mod other;\nfn main() {}\n",
            [None, "S", "impl S", "S.new", "impl fmt.Display for S", "S.fmt", "Q", "Q.q", "E",
             "tests", "tests.t", "main"],
        ),
        (
            "A.java",
            "package a;\n\n/** Doc. */\n@Ann\npublic class A<T> {\n  int x;\n  public A() {}\n"
            "  @Override\n  public <K> void m() {}\n  enum E { P;\n    void e() {}\n  }\n}\n"
            "interface I {\n  void i();\n}\nrecord R(int a) {}\n",
            [None, "A", "A.A", "A.m", "A.E", "A.E.e", "I", "I.i", "R"],
        ),
        (
            "a.c",
            "#include <a.h>\n\nstruct p { int x; };\ntypedef struct { int y; } q;\nenum e { A };\n"
            "struct p v;\n/* Doc. */\nstatic char *f(int a)\n{\n}\nint (*g(void))(int) { }\n",
            [None, "p", "q", "e", "f", "g"],
        ),
        (
            "a.h",
            "#ifndef A\n#define A\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
            "struct s { int a; };\n#endif\n",
            [None, "s"],
        ),
        (
            "a.cpp",
            "#include <a>\nnamespace ns {\ntemplate <typename T>\n"
            "class A : B {\n public:\n  A() {}\n"
            "  ~A() {}\n  int& m() const { return x; }\n  struct In { void k() {} };\n};\n"
            "void A<int>::out() {}\nbool operator<(A a, A b) { return true; }\n}\nint main() {}\n",
            [None, "ns.A", "ns.A.A", "ns.A.~A", "ns.A.m", "ns.A.In", "ns.A.out", "ns.operator<",
             "main"],
        ),
    ],
)  # fmt: skip
def test_other_languages_are_split_too(name: str, text: str, expected: list[str | None]) -> None:
    assert headings(name, text) == expected
    assert "".join(section.text for section in sections(name, text)) == text


def test_comments_and_attributes_go_with_the_definition_below() -> None:
    found = sections("a.rs", "use x;\n\n/// Doc.\n#[derive(Debug)]\npub struct S;\n")
    assert found[1].text == "/// Doc.\n#[derive(Debug)]\npub struct S;\n"


def test_a_file_with_syntax_errors_is_still_split() -> None:
    text = "def good():\n    pass\n\ndef bad(:\n    ((\n\ndef other():\n    pass\n"
    assert "good" in headings("x.py", text)
    assert "".join(section.text for section in sections("x.py", text)) == text


@pytest.mark.parametrize(
    ("name", "piece"),
    [("a.py", "class A:\n "), ("a.cpp", "namespace n {"), ("a.java", "class A {\n")],
)
def test_hostile_nesting_is_read_in_reasonable_time(name: str, piece: str) -> None:
    text = piece * 3000
    found = sections(name, text)
    assert "".join(section.text for section in found) == text
    assert all(len(section.heading or "") < 500 for section in found)


def test_blank_lines_before_the_first_definition_are_no_section() -> None:
    (section,) = sections("x.py", "\n\ndef f(): ...\n")
    assert (section.slug, section.line) == ("f", 1)


def test_other_languages_are_one_section() -> None:
    reading = read("a/x.nim", b"proc f() = discard\n")
    assert (reading.type, reading.title) == ("code", "x.nim")
    assert [section.slug for section in reading.sections] == ["_preamble"]


@pytest.mark.parametrize("name", ["Dockerfile", "Makefile", "a.SQL", "x.kt", "CMakeLists.txt"])
def test_code_is_known_by_its_name(name: str) -> None:
    assert type_of(name) == "code"


PIECES = st.sampled_from(
    ["def f():\n", "    pass\n", "class A {\n", "}\n", "\n", "# c\n", "// d\n", "fn f() {}\n",
     "@x\n",
     "func (a *A) b() {}\n", "namespace n {\n", "int f() {\n", "export ", "/* ", "*/", "(", "\t",
     "é",
     "    def g(self): ...\n", "struct S {\n", "impl S {\n", "void m() {}\n", "'''",
     "\x0c", "\u2028"]
)  # fmt: skip


@pytest.mark.parametrize("extension", sorted(GRAMMARS))
@given(parts=st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=20))
def test_the_sections_together_are_exactly_the_source(extension: str, parts: list[str]) -> None:
    text = "".join(parts)
    found = read_code(text, "x", extension).sections
    assert "".join(section.text for section in found) == (text if text.strip() else "")
    assert len({section.slug for section in found}) == len(found)
    lines = text.split("\n")
    for section in found:
        assert "\n".join(lines[section.line - 1 :]).startswith(section.text)
