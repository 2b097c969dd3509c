"""Languages that the extra "code" brings."""

import subprocess
import sys

import pytest

from knowbase.read import read
from knowbase.read.code import FURTHER

SOURCES = {
    "rb": (
        "module Shop\n"
        "  # makes\n"
        "  class Cart < Base\n"
        "    attr_reader :x\n"
        "    def total(a)\n"
        "      1\n"
        "    end\n"
        "    def self.make; end\n"
        "  end\n"
        "end\n",
        ["Shop", "Shop.Cart", "Shop.Cart.total", "Shop.Cart.make"],
    ),
    "php": (
        "<?php\n"
        "namespace A\\B;\n"
        "interface I { function q(); }\n"
        "trait T {}\n"
        "class Cart { public function total(int $a): int { return 1; } }\n"
        "function free() {}\n"
        "enum E { case A; }\n",
        ["I", "T", "Cart", "free", "E"],
    ),
    "cs": (
        "namespace A.B {\n"
        " public class Cart<T> : I {\n"
        "  public Cart() {}\n"
        "  /// <summary>x</summary>\n"
        "  public int Total(int a) => 1;\n"
        "  public int P { get; set; }\n"
        " }\n"
        " public interface I { void Q(); }\n"
        " struct S {} enum E {A} record R(int X);\n"
        "}\n",
        ["A.B.Cart", "A.B.Cart.Cart", "A.B.Cart.Total", "A.B.Cart.P", "A.B.I", "A.B.S"],
    ),
    "swift": (
        "struct Cart: P {\n"
        "  var x = 1\n"
        "  init() {}\n"
        "  func total(a: Int) -> Int { 1 }\n"
        "}\n"
        "class K {}\n"
        "enum E { case a }\n"
        "protocol P { func q() }\n"
        "extension Cart { func more() {} }\n"
        "func free() {}\n",
        ["Cart", "Cart.init", "Cart.total", "K", "E", "P", "Cart", "free"],
    ),
    "kt": (
        "package a\n"
        "\n"
        "// says\n"
        "class Cart(val x: Int) {\n"
        "    fun total(a: Int): Int = 1\n"
        "}\n"
        "\n"
        "object O {\n"
        "    fun p() {}\n"
        "}\n"
        "\n"
        "fun free() {}\n",
        ["Cart", "Cart.total", "O", "O.p", "free"],
    ),
    "scala": (
        "package a\n"
        "class Cart(x: Int) extends B {\n"
        "  def total(a: Int): Int = 1\n"
        "}\n"
        "object O { def p() = 1 }\n"
        "trait T { def q(): Int }\n"
        "enum E { case A }\n"
        "def free() = 1\n",
        ["Cart", "Cart.total", "O", "T", "E", "free"],
    ),
    "sh": (
        "#!/bin/bash\n# says\nhello() {\n echo hi\n}\nfunction bye { echo; }\nbye\n",
        ["hello", "bye"],
    ),
    "lua": (
        "local M = {}\n"
        "-- says\n"
        "function M.total(a)\n"
        " return 1\n"
        "end\n"
        "local function free() end\n"
        "function M:meth() end\n"
        "M.x = function() end\n",
        ["M.total", "free", "M:meth"],
    ),
    "hs": (
        "module Shop where\n"
        "-- | says\n"
        "total :: Int -> Int\n"
        "total 0 = 1\n"
        "total x = x\n"
        "data Cart = Cart { a :: Int }\n"
        "class Show' a where\n"
        "  sh :: a -> String\n"
        "instance Show' Cart where\n"
        '  sh _ = ""\n'
        "type T = Int\n"
        "newtype N = N Int\n",
        ["total", "Cart", "Show'", "Show'.sh", "Show'", "Show'.sh", "T", "N"],
    ),
    "ex": (
        "defmodule Shop.Cart do\n"
        '  @doc "x"\n'
        "  def total(a), do: 1\n"
        "  defp priv(a) when a > 1 do\n"
        "    2\n"
        "  end\n"
        "  defmacro m(x), do: x\n"
        "end\n",
        ["Shop.Cart", "Shop.Cart.total", "Shop.Cart.priv", "Shop.Cart.m"],
    ),
    "jl": (
        "module Shop\n"
        "struct Cart\n"
        "  a::Int\n"
        "end\n"
        "function total(a)\n"
        " 1\n"
        "end\n"
        "f(x) = x\n"
        "macro m(x) end\n"
        "abstract type A end\n"
        "end\n",
        ["Shop", "Shop.Cart", "Shop.total", "Shop.m", "Shop.A"],
    ),
    "zig": (
        'const std = @import("std");\n'
        "const Cart = struct {\n"
        "  a: u8,\n"
        "  pub fn total(self: Cart) u8 { return 1; }\n"
        "};\n"
        "pub fn main() void {}\n"
        'test "x" {}\n',
        ["Cart", "Cart.total", "main", '"x"'],
    ),
    "sql": (
        "CREATE TABLE cart (id INT PRIMARY KEY);\n"
        "CREATE VIEW v AS SELECT 1;\n"
        "CREATE FUNCTION total(a INT) RETURNS INT AS $$ SELECT 1 $$ LANGUAGE sql;\n"
        "CREATE INDEX i ON cart(id);\n"
        "SELECT * FROM cart;\n",
        ["cart", "v", "total"],
    ),
    "ml": (
        "(* says *)\n"
        "let total a = 1\n"
        "module Cart = struct\n"
        "  type t = int\n"
        "  let make () = 1\n"
        "end\n"
        "type u = A | B\n"
        "class c = object end\n",
        ["total", "Cart", "Cart.t", "Cart.make", "u", "c"],
    ),
    "pl": (
        "package Shop::Cart;\nuse strict;\nsub total {\n my $x = shift;\n}\n1;\n",
        ["total"],
    ),
    "dart": (
        "class Cart extends B {\n"
        "  int x = 1;\n"
        "  Cart(this.x);\n"
        "  int total(int a) { return 1; }\n"
        "  int get g => 1;\n"
        "}\n"
        "void main() {}\n"
        "enum E { a }\n"
        "mixin M {}\n"
        "extension X on Cart {}\n",
        ["Cart", "Cart.Cart", "Cart.total", "Cart.g", "main", "E", "M", "X"],
    ),
    "m": (
        "@interface Cart : NSObject\n"
        "- (int)total:(int)a;\n"
        "@end\n"
        "@implementation Cart\n"
        "- (int)total:(int)a { return 1; }\n"
        "+ (void)make {}\n"
        "@end\n"
        "int main() { return 0; }\n",
        ["Cart", "Cart.total", "Cart", "Cart.total", "Cart.make", "main"],
    ),
    "groovy": (
        "class Cart {\n  int total(int a) { 1 }\n}\ndef free(x) { x }\n",
        ["Cart", "Cart.total", "free"],
    ),
    "ps1": (
        "function Get-Cart {\n param($a)\n 1\n}\nclass Cart {\n [int] Total() { return 1 }\n}\n",
        ["Get-Cart", "Cart", "Cart.Total"],
    ),
    "f90": (
        "module shop\n"
        "contains\n"
        "subroutine total(a)\n"
        " integer :: a\n"
        "end subroutine\n"
        "function f(x) result(y)\n"
        " y = x\n"
        "end function\n"
        "end module\n"
        "program main\n"
        "end program\n",
        ["shop", "shop.total", "shop.f", "main"],
    ),
    "tf": (
        'resource "aws_s3_bucket" "b" {\n  bucket = "x"\n}\nvariable "v" {}\n',
        ["resource aws_s3_bucket b", "variable v"],
    ),
}


@pytest.mark.parametrize("extension", SOURCES)
def test_a_section_is_a_definition(extension: str) -> None:
    text, names = SOURCES[extension]
    reading = read(f"a.{extension}", text.encode())
    assert [one.heading for one in reading.sections if one.heading] == names
    assert "".join(one.text for one in reading.sections) == text
    lines = text.split("\n")
    for one in reading.sections:
        assert one.text.startswith(lines[one.line - 1])


def test_every_language_of_the_extra_is_tried() -> None:
    tried = {FURTHER[extension] for extension in SOURCES}
    assert tried == set(FURTHER.values())
    assert len(tried) == 21


def test_without_the_extra_a_file_is_read_as_a_whole() -> None:
    program = (
        "import sys; sys.modules['tree_sitter_ruby'] = None\n"
        "from knowbase.read import read\n"
        "print([one.slug for one in read('a.rb', b'def x\\nend\\n').sections])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "['_preamble']\n", done.stderr
