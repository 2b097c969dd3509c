"""Where a base lies, and that no password is ever shown."""

from pathlib import Path

import pytest

from conftest import Kb
from knowbase.errors import InvalidInput
from knowbase.store.location import is_url, locate, new_place, shown, split_url


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://u:s3cret@h/db#team", "postgresql://u@h/db#team"),
        ("postgresql://u@h:5432/db?sslmode=require#team", "postgresql://u@h:5432/db?sslmode=require#team"),
        ("postgresql://h/db?pass%77ord=s3cret&sslmode=require", "postgresql://h/db?sslmode=require"),
        ("postgresql://h/db?password=s3cret#team", "postgresql://h/db#team"),
        ("postgresql://h/db?SSLPASSWORD=s3cret", "postgresql://h/db"),
        ("postgresql://h/db?user=a@b&passfile=~/.pgpass", "postgresql://h/db?user=a@b&passfile=~/.pgpass"),
        ("POSTGRESQL://u:s3cret@h/db", "POSTGRESQL://u@h/db"),
        ("postgresql://u:s3#cret@h/db#team", "postgresql://u@h/db#team"),
        ("postgresql://u:s3/cret@h/db#team", "postgresql://u@h/db#team"),
        ("postgresql://u:s3?cret@h/db#team", "postgresql://u@h/db#team"),
        ("postgresql://u:s3@cret@h/db#team", "postgresql://u@h/db#team"),
        ("postgresql://u:s3/c#ret@h/db", "postgresql://u@h/db"),
        ("postgresql://u:s3@c#ret@h/db", "postgresql://u@h/db"),
        ("postgresql://u@h/db#me@home", "postgresql://u@h/db#me@home"),
        ("postgresql:///db?host=/run/pg#a#b", "postgresql:///db?host=/run/pg#a#b"),
        ("postgresql://h/db?", "postgresql://h/db?"),
        ("/a/path#with?odd@signs:", "/a/path#with?odd@signs:"),
    ],
)  # fmt: skip
def test_a_password_is_never_shown_and_the_name_stays(url: str, expected: str) -> None:
    assert shown(url) == expected


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("postgresql://u:p@h/db#team", "team"),
        ("postgresql://u:p#w@h/db#team", "team"),
        ("postgresql://u:p#w@h/db", ""),
        ("postgresql://u:p@h/db#me@home", "me@home"),
        ("postgresql://h/db#me@home", "me@home"),
        ("postgresql:///db?host=/run/pg#a#b", "a#b"),
    ],
)
def test_the_name_of_a_base_stands_behind_the_login_and_the_database(url: str, name: str) -> None:
    assert split_url(url)[1] == name


def test_a_scheme_is_known_in_any_case() -> None:
    assert is_url("PostgreSQL://h/db")
    assert locate("POSTGRES://h/db") == new_place("POSTGRES://h/db") == "postgres://h/db"


@pytest.mark.parametrize("place", ["postgre://u:s3cret@h/db", "mysql://u:s3cret@h", "x://"])
def test_what_is_neither_a_path_nor_a_known_url_is_refused_and_not_repeated(
    place: str, tmp_path: Path
) -> None:
    for find in (locate, new_place):
        with pytest.raises(InvalidInput) as refused:
            find(place)
        assert "s3cret" not in f"{refused.value} {refused.value.hint}"
    for command in ("init", "status"):
        error = Kb(tmp_path)(command, "--base", place, code=2)
        assert "s3cret" not in error.out + error.err
    assert list(tmp_path.iterdir()) == []
