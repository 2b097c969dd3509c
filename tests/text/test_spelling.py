"""Which word was meant."""

from knowbase.text.spelling import clear, likely


def test_a_word_whose_last_document_has_just_gone_is_not_what_was_meant() -> None:
    assert clear("deploymnt", {"deployment": 0}) is None
    assert likely("deploymnt", {"deployment": 0}) == []
    assert clear("deploymnt", {"deployment": 2}) == "deployment"
