"""Texts from before UTF-8: what they say, or that it is a guess."""

import pytest

from knowbase.read import read
from knowbase.read.decode import decode, decoded

TEXTS = {
    "ja": "アルゴリズムは、問題を解くための手順を定式化した形で表したものです。並べ替え。",
    "zh": "算法是如何解决一类问题的明确规范。算法可以执行计算、数据处理和自动推理任务。",
    "tw": "演算法是一個明確描述如何解決一類問題的規範。這個倉庫包含了許多熱門的演算法。",
    "ko": "알고리즘은 어떤 종류의 문제를 풀 수 있는 정확한 방법입니다. 자료 구조도 있습니다.",
    "ru": "Алгоритм — это точное предписание, определяющее процесс перехода от исходных данных.",
    "uk": "Алгоритм є чіткою специфікацією того, як вирішити клас проблем. Її описують кроки.",
    "pl": "Algorytm jest jednoznaczną specyfikacją tego, jak rozwiązać klasę problemów. Żółć.",
    "tr": "Algoritma, bir problem sınıfının nasıl çözüleceğine dair açık bir şartnamedir. Güneş.",
    "he": "אלגוריתם הוא מפרט חד משמעי כיצד לפתור סוג של בעיות. זהו סט של כללים.",
    "ar": "الخوارزمية هي مواصفات لا لبس فيها لكيفية حل فئة من المشكلات. هي مجموعة من القواعد.",
    "de": "Ein Algorithmus ist eine eindeutige Vorschrift zur Lösung. Größe, Länge, Übersicht.",
    "fr": "Un algorithme est une démarche non ambiguë expliquant comment résoudre une série.",
    "el": "Ο αλγόριθμος είναι μια πεπερασμένη σειρά ενεργειών που επιλύει ένα πρόβλημα.",
}


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        ("ja", "shift_jis"), ("ja", "euc_jp"), ("ja", "iso2022_jp"), ("zh", "gb18030"),
        ("zh", "gb2312"), ("tw", "big5"), ("ko", "euc_kr"), ("ko", "cp949"), ("ru", "koi8_r"),
        ("ru", "cp1251"), ("ru", "cp866"), ("ru", "iso8859_5"), ("uk", "koi8_u"), ("uk", "cp1251"),
        ("pl", "cp1250"), ("pl", "iso8859_2"), ("tr", "cp1254"), ("he", "cp1255"), ("ar", "cp1256"),
        ("de", "cp1252"), ("fr", "latin-1"), ("el", "cp1253"),
    ],
)  # fmt: skip
def test_a_text_of_before_utf8_is_read_as_what_it_is(language: str, encoding: str) -> None:
    data = TEXTS[language].encode(encoding, "ignore")
    assert decode(data) == data.decode(encoding)
    commented = b"# x\ndef f(): pass\n\n" * 40 + b"# " + data + b"\n"
    assert data.decode(encoding) in decode(commented)


def test_what_cannot_be_told_is_a_guess_and_said() -> None:
    found = decoded("naïve".encode("latin-1"))
    assert found.text == "naïve"
    assert found.warning == "it is not in UTF-8; read as Windows-1252, which is a guess"
    assert read("a.txt", "naïve".encode("latin-1")).warnings == (found.warning,)
    assert decoded("naïve".encode()).warning is None


@pytest.mark.parametrize(
    ("name", "head", "encoding"),
    [
        ("a.html", b'<html><head><meta charset="macintosh"></head><body>', "mac_roman"),
        ("a.html", b'<meta content="text/html; charset=cp1257">', "cp1257"),
        ("a.xml", b'<?xml version="1.0" encoding="windows-1258"?>\n<a>', "cp1258"),
        ("a.css", b'@charset "iso-8859-15";\n/* ', "iso8859-15"),
        ("a.tex", b"\\documentclass{book}\n\\usepackage[applemac]{inputenc}\n", "mac_roman"),
        ("a.py", b"#!/usr/bin/python\n# -*- coding: mac-roman -*-\n# ", "mac_roman"),
        ("a.rb", b"# vim: set fileencoding=cp1250 :\n# ", "cp1250"),
    ],
)  # fmt: skip
def test_a_text_that_says_what_it_is_in_is_believed(name: str, head: bytes, encoding: str) -> None:
    text = "dragué, café" if encoding in ("cp1250", "cp1257") else "dragué, naïveté"
    found = decoded(head + text.encode(encoding))
    assert found == (head.decode() + text, None), name


@pytest.mark.parametrize("named", [b"utf-8", b"hex", b"idna", b"nonsense", b"ascii"])
def test_a_text_that_is_not_what_it_says_is_read_as_what_it_is(named: bytes) -> None:
    text = TEXTS["de"]
    page = b'<meta charset="' + named + b'">' + text.encode("cp1252")
    assert text in decode(page)
    assert text in decode(b'<meta charset="cp1251">' + text.encode())  # it is in UTF-8
