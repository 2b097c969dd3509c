"""Which language a text is in, by its letters and its common words."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowbase.text import forms
from knowbase.text.languages import ENGLISH, LATIN, NONE, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The harbour master closes the gate when the wind is too strong.", ENGLISH),
        ("Der Hafenmeister schließt das Tor, wenn der Wind zu stark ist.", LATIN),
        ("Le maître du port ferme la porte quand le vent est trop fort.", LATIN),
        ("Начальник порта закрывает ворота при сильном ветре.", "Cyrillic letters"),
        ("Ο λιμενάρχης κλείνει την πύλη όταν φυσάει δυνατά.", "Greek"),
        ("風が強いとき、港長は門を閉めます。", "Japanese"),
        ("风太大的时候,港口主管会关闭大门。", "Chinese"),
        ("바람이 강하면 항만장이 문을 닫습니다.", "Korean"),
        ("यदि हवा तेज हो तो बंदरगाह का द्वार बंद रहता है।", "Indian scripts"),
        ("12 / 30 = 0.4", NONE),
        ("", NONE),
    ],
)
def test_a_language_is_told_by_letters_and_common_words(text: str, language: str) -> None:
    assert language_of(text) == language


@given(st.text(max_size=300))
def test_every_text_is_in_some_language_or_none(text: str) -> None:
    assert language_of(text)


def test_words_are_cut_as_the_pattern_of_words_finds_them() -> None:
    chance = random.Random(4)
    for _ in range(5000):
        text = "".join(chance.choices("aAbzZ09_+#-. \n'", k=chance.randrange(30)))
        assert forms._ascii_words(text) == forms._ASCII_WORD.findall(text.lower()), text
