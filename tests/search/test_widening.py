"""What is looked for beside the words: forms, what was meant, synonyms, short forms."""

import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import knowbase
import postgres
from knowbase import Base, Note, SearchRequest
from knowbase.errors import Conflict, InvalidInput, NotFound
from knowbase.search.widening import DEFINED, SYNONYM
from knowbase.values.access import Access
from linked import FarApart

TEXTS = {
    "A-1": "The Horizontal Pod Autoscaler (HPA) changes the number of replicas",
    "A-2": "HPA does nothing without metrics",
    "A-3": "A horizontal pod autoscaler reads metrics each minute",
    "A-4": "Every deployment is announced, and a deployment is undone by a rollback",
    "A-5": "deployintro is where newcomers start",
    "A-6": "Die Städte haben ihre Rathäuser im Mittelalter gebaut, und der Markt ist vor dem Haus",
    "A-7": "В городах строили большие мосты через реки",
    "A-8": "हिन्दी में किताबें और कविताएँ लिखी जाती हैं",
    "A-9": "Kubernetes schedules work onto nodes",
    "A-15": "Once a quarter everybody comes back",
    "A-11": "Der Straßenbahnführer ist nicht im Dienst, und die Bahn ist leer",
    "A-12": "Der Fussballplatz ist nicht hier, und der Ball ist weg",
    "A-13": "Edges have a kind: RELATED_TO (RELATED_TO, REFERENCES), READ (REFERS, ENDS_AT, D)",
    "A-14": "A windmill turns",
    "A-16": "The mean arterial pressure (MAP) of 25(OH)D users",
    "A-17": "Every map of the park, and a map of the town, shows a mapping of paths",
    "A-18": "Boats with a diesel engine (DEN) and boats with a diesel engine",
    "A-19": "A diesel engine is loud",
    "A-20": "DEN is short",
    "A-21": "Ba má tôi ở quê, và ba làm ruộng",
    "A-22": "Bà của tôi ở quê, và bà làm ruộng",
    "A-23": "A dolgozók a szabadságkérelmeiket a vezetőjüknek adják be a hónap végén",
    "A-24": "העובדים מגישים את הבקשות למנהלת",
    "A-25": "Pracownicy składają wnioski, i to do końca miesiąca, a kierownik je podpisuje",
    "A-26": "کارمندان درخواست مرخصی را می‌نویسند",
    "A-27": "Çalışanların dilekçeleri",
    "A-28": "يدفع المدير رواتب الموظفين في نهاية السنة",
    "A-29": "Ёлки и шары лежат в коробке",
    "A-30": "Die Bücher stehen im Lager, und das größere ist nicht leer",
    "A-31": "Işık söndüğünde kapı kilitlenir",
    "A-32": "The train to Łódź leaves at noon",
    "A-33": "تبدأ الامتحانات غدا",
    "A-34": "Thư viện mở cửa. Đường phố Hà Nội rất đông",
    "A-35": "το φώς είναι ανοιχτό",
    "A-36": "データの保存と ｻｰﾊﾞｰ の再起動",
}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def base(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Base]:
    file = str(tmp_path_factory.mktemp("widened") / "base.db")
    place = file if request.param == "sqlite" else postgres.new_base()
    with Base(knowbase.create(place).path, embedder=FarApart()) as made:
        for code, text in TEXTS.items():
            made.note(Note(text, code=code, project="web" if code == "A-1" else None))
        yield made


def asked(base: Base, query: str, **more: Any) -> tuple[list[str], tuple[str, ...]]:
    answer = base.search(SearchRequest(query, mode="keyword", **more))
    return [hit.code for hit in answer.hits], answer.notices


@pytest.mark.parametrize(
    ("query", "code", "marked"),
    [
        ("alte Stadt", "A-6", "<mark>Städte</mark>"),
        ("Rathaus", "A-6", "<mark>Rathäuser</mark>"),
        ("большой город", "A-7", "<mark>городах</mark>"),
        ("हिन्दी किताब", "A-8", "<mark>"),
        ("Strassenbahnführer", "A-11", "<mark>Straßenbahnführer</mark>"),
        ("Strassenbahn", "A-11", "<mark>Straßenbahnführer</mark>"),
        ("Fußballplatz", "A-12", "<mark>Fussballplatz</mark>"),
        ("a szabadságot", "A-23", "<mark>szabadságkérelmeiket</mark>"),  # `a` is no English here
        ("עובד", "A-24", "<mark>העובדים</mark>"),
        ("ובקשה", "A-24", "<mark>הבקשות</mark>"),
        ("do skladania", "A-25", "<mark>składają</mark>"),
        ("كارمند", "A-26", "<mark>کارمندان</mark>"),  # with the letter of an Arabic keyboard
        ("calisan", "A-27", "<mark>Çalışanların</mark>"),
        ("سنه", "A-28", "<mark>السنة</mark>"),
        ("lodz", "A-32", "<mark>Łódź</mark>"),  # on another keyboard, in an English text
        ("isik", "A-31", "<mark>Işık</mark>"),
        ("ISIK", "A-31", "<mark>Işık</mark>"),
        ("duong pho", "A-34", "<mark>Đường</mark>"),
        ("vien", "A-34", "<mark>viện</mark>"),
        ("ΦΩΣ", "A-35", "<mark>φώς</mark>"),
        ("φως", "A-35", "<mark>φώς</mark>"),
        ("ﾃﾞｰﾀ", "A-36", "<mark>データ</mark>"),
        ("サーバー", "A-36", "<mark>ｻｰﾊﾞｰ</mark>"),
    ],
)
def test_words_of_other_languages_are_found_as_they_are_bent_and_typed(
    base: Base, query: str, code: str, marked: str
) -> None:
    """C34"""
    answer = base.search(SearchRequest(query, mode="keyword"))
    assert [hit.code for hit in answer.hits] == [code]
    assert marked in answer.hits[0].snippet
    assert answer.notices == ()


@pytest.mark.parametrize(
    ("query", "searched", "code", "marked"),
    [
        ("мост", "мост…", "A-7", "<mark>мосты</mark>"),  # shorter than a beginning
        ("мостами", "мост…", "A-7", "<mark>мосты</mark>"),
        ("река", "рек…", "A-7", "<mark>реки</mark>"),
        ("ёлка", "елк…", "A-29", "<mark>Ёлки</mark>"),
        ("елка", "елк…", "A-29", "<mark>Ёлки</mark>"),
        ("Buch", "buch…", "A-30", "<mark>Bücher</mark>"),
        ("Groessen", "gross…", "A-30", "<mark>größere</mark>"),
        ("ışık", "isik", "A-31", "<mark>Işık</mark>"),
        ("امتحان", "امتح…", "A-33", "<mark>الامتحانات</mark>"),
    ],
)
def test_a_word_whose_form_nothing_has_is_searched_by_less_of_it(
    base: Base, query: str, searched: str, code: str, marked: str
) -> None:
    """C34"""
    answer = base.search(SearchRequest(query, mode="keyword"))
    assert [hit.code for hit in answer.hits] == [code]
    assert marked in answer.hits[0].snippet
    assert answer.notices == (f"nothing has {query!r}: {searched!r} is searched too",)
    assert base.search(SearchRequest(query, mode="keyword", strict=True)).hits == ()


@pytest.mark.parametrize(("query", "code"), [("ba làm ruộng", "A-21"), ("bà làm ruộng", "A-22")])
def test_vietnamese_words_are_told_apart_by_their_accents(
    base: Base, query: str, code: str
) -> None:
    """C34: the tokenizer drops them."""
    apart = unicodedata.normalize("NFD", query)
    assert base.search(SearchRequest(apart, mode="keyword")).hits[0].code == code
    answer = base.search(SearchRequest(query, mode="keyword", explain=True))
    assert answer.hits[0].code == code
    assert "<mark>ruộng</mark>" in answer.hits[0].snippet
    assert "ruộng beside ruộng (form, × 1)" in str(answer)
    assert answer.notices == ()


def test_a_mistyped_word_is_searched_as_what_was_meant_and_it_is_said(base: Base) -> None:
    for typed in ("deploymnt", "Deplyoment", "depoyment"):
        hits, notices = asked(base, typed)
        assert hits == ["A-4"]
        assert notices == (f"nothing has {typed!r}: 'deployment' is searched too",)
    answer = base.search(SearchRequest("deploymnt", mode="keyword"))
    assert [one.nearest[0] for one in answer.suggestions] == ["deployment"]


@pytest.mark.parametrize(
    ("typed", "meant", "codes"),
    [
        ("dieselengine", "diesel engine", {"A-18", "A-19"}),
        ("wind mill", "windmill", {"A-14"}),
        ("deploy ment rollback", "deployment", {"A-4"}),
    ],
)
def test_a_space_too_many_or_too_few_is_mended_and_it_is_said(
    base: Base, typed: str, meant: str, codes: set[str]
) -> None:
    hits, notices = asked(base, typed)
    assert set(hits) == codes
    slip = typed.removesuffix(" rollback")
    assert notices == (f"nothing has {slip!r}: {meant!r} is searched too",)
    assert asked(base, typed, strict=True)[1] == ()


def test_words_that_no_text_has_beside_each_other_are_not_two_of_one(base: Base) -> None:
    assert asked(base, "parkboats") == ([], ())
    assert asked(base, "engi neloud") == ([], ())


def test_the_word_that_is_still_being_typed_is_no_slip_yet(base: Base) -> None:
    """A blank ends it; what stands before it is mended at once."""

    def draft(query: str) -> tuple[tuple[str, ...], int]:
        answer = base.search(SearchRequest(query, mode="keyword", draft=True))
        return answer.notices, len(answer.suggestions)

    mended = ("nothing has 'deploymnt': 'deployment' is searched too",)
    assert draft("deploymnt") == ((), 0)
    assert draft("deploymnt ") == (mended, 1)
    assert draft("deploymnt windm") == (mended, 1)


def test_a_last_word_that_nothing_has_is_looked_for_by_its_beginning(base: Base) -> None:
    """Nobody is told while it is being typed: the next letter says more."""

    def draft(query: str) -> tuple[list[str], tuple[str, ...]]:
        answer = base.search(SearchRequest(query, mode="keyword", draft=True))
        return [hit.code for hit in answer.hits], answer.notices

    told = ("nothing has 'kuber': 'kuber…' is searched too",)
    assert draft("kuber") == (["A-9"], ())
    assert draft("kuber ") == asked(base, "kuber") == (["A-9"], told)
    assert draft("kub") == ([], ())
    assert asked(base, "kuber", strict=True) == ([], ())
    assert asked(base, '"kuber"') == ([], ())
    assert "A-9" not in asked(base, "kuber metrics")[0]


@pytest.mark.parametrize(
    ("typed", "meant", "code"),
    [
        ("Fuessballplatz", "fussballplatz", "A-12"),
        ("Staedte", "städte", "A-6"),
        ("Dilkeçeleri", "dilekçeleri", "A-27"),
        ("الموفظين", "الموظفين", "A-28"),
    ],
)
def test_a_mistyped_word_is_mended_in_other_letters(
    base: Base, typed: str, meant: str, code: str
) -> None:
    hits, notices = asked(base, typed)
    assert (hits, notices) == ([code], (f"nothing has {typed!r}: {meant!r} is searched too",))


@pytest.mark.parametrize(("typed", "nobody"), [("quarterly", "quarterely"), ("bake", "backe")])
def test_a_word_that_no_text_has_is_never_told(base: Base, typed: str, nobody: str) -> None:
    """Its stem is one of the base: `quarterely` has that of quarter."""
    answer = base.search(SearchRequest(typed, mode="keyword"))
    assert nobody not in f"{answer.notices} {answer.suggestions}"


def test_another_word_of_one_other_letter_is_suggested_and_not_searched(base: Base) -> None:
    answer = base.search(SearchRequest("goats", mode="keyword"))
    assert (answer.hits, answer.notices) == ((), ())
    assert [one.nearest[0] for one in answer.suggestions] == ["boats"]
    answer = base.search(SearchRequest("ergine", mode="keyword"))  # no key beside n
    assert (answer.hits, answer.notices) == ((), ())
    assert [one.nearest[0] for one in answer.suggestions] == ["engine"]


def test_what_was_meant_is_told_as_the_text_has_it(base: Base) -> None:
    hits, notices = asked(base, "windmlils")
    assert hits == ["A-14"]
    assert notices == ("nothing has 'windmlils': 'windmill' is searched too",)


@pytest.mark.parametrize("query", ["RELATED_TO", "READ"])
def test_a_list_of_names_is_no_definition(base: Base, query: str) -> None:
    assert asked(base, query)[1] == ()


@pytest.mark.parametrize(
    "query", ["DEPLOYMNT-12", "deploy_mnt", "deploymnt.py", '"deploymnt"', "+deploymnt", "xyzzyq"]
)
def test_codes_quotes_and_what_is_far_from_every_word_are_left_alone(
    base: Base, query: str
) -> None:
    assert "A-4" not in asked(base, query)[0]
    assert not any("is searched too" in one for one in asked(base, query)[1])


def test_a_strict_search_is_taken_at_its_word(base: Base) -> None:
    assert asked(base, "deploymnt", strict=True) == ([], ())
    assert asked(base, "hpa", strict=True)[0] == ["A-2", "A-1"]


def test_where_all_words_must_be_there_what_was_meant_takes_the_place(base: Base) -> None:
    hits, notices = asked(base, "deploymnt rollback", profile="entries")
    assert hits == ["A-4"]
    assert len(notices) == 1


def test_where_all_words_must_be_there_other_names_are_neither_used_nor_told(base: Base) -> None:
    assert asked(base, "hpa replicas", profile="entries") == (["A-1"], ())


def test_a_short_form_and_what_a_text_says_it_stands_for_find_each_other(base: Base) -> None:
    hits, notices = asked(base, "hpa")
    assert set(hits) == {"A-1", "A-2", "A-3"}
    assert hits[2] == "A-3"  # it counts for less than the word itself
    assert notices == ("'hpa' is also searched as 'Horizontal Pod Autoscaler' (A-1 defines it)",)
    hits, notices = asked(base, "a horizontal pod autoscaler")
    assert set(hits) == {"A-1", "A-2", "A-3"}
    assert "'HPA' (A-1 defines it)" in notices[0]
    assert base.synonyms.all().synonyms[-1] == (("HPA", "Horizontal Pod Autoscaler"), "A-1")


@pytest.mark.parametrize("query", ["mapping", "map", "Maps", "pre-MAP", "OH", "oh"])
def test_a_word_is_no_short_form_because_it_looks_like_one(base: Base, query: str) -> None:
    """Nor is a formula a definition."""
    assert asked(base, query)[1] == ()
    assert asked(base, "MAP")[1] != ()


def test_another_name_counts_by_what_would_be_missed_without_it(base: Base) -> None:
    """Two of the three that say it have it as it was typed, and two the short form."""
    answer = base.search(SearchRequest("diesel engine", mode="keyword", explain=True))
    beside = {hit.code: hit.explanation.beside for hit in answer.hits if hit.explanation}
    assert beside["A-20"] == (f"DEN beside diesel engine (abbreviation, × {DEFINED / 2:g})",)
    assert [hit.code for hit in answer.hits][-1] == "A-20"


def test_a_definition_of_another_project_is_not_told(base: Base) -> None:
    other = base.within(Access(project="other"))
    assert asked(other, "hpa") == ([], ())
    assert asked(base.within(Access(project="web")), "hpa")[1] != ()


def test_synonyms_are_given_explained_and_taken_back(base: Base) -> None:
    assert asked(base, "k8s")[0] == []
    base.synonyms.add(["k8s", "Kubernetes"])
    hits, notices = asked(base, "k8s")
    assert (hits, notices) == (["A-9"], ("'k8s' is also searched as 'Kubernetes' (kb synonyms)",))
    answer = base.search(SearchRequest("k8s", mode="keyword", explain=True))
    assert answer.hits[0].explanation is not None
    assert answer.hits[0].explanation.beside == (f"Kubernetes beside k8s (synonym, × {SYNONYM})",)
    assert base.synonyms.add(["k8s", "kube"]).words == ("k8s", "Kubernetes", "kube")
    assert asked(base, "kube")[0] == ["A-9"]
    assert base.saved.all().saved == ()
    assert base.synonyms.remove("KUBE").words == ("k8s", "Kubernetes", "kube")
    assert asked(base, "k8s")[0] == []


def test_synonyms_are_imported_a_group_a_line(base: Base) -> None:
    done = base.synonyms.load("# names\nk8s, Kubernetes\nundo => rollback\nalone\n")
    assert (done.groups, done.problems) == (2, ("line 4: two different words are needed",))
    assert asked(base, "undo")[0] == ["A-4"]
    for word in ("k8s", "undo"):
        base.synonyms.remove(word)
    with pytest.raises(NotFound):
        base.synonyms.remove("k8s")
    with pytest.raises(InvalidInput):
        base.synonyms.add(["same", "SAME"])
    with pytest.raises(Conflict):
        base.synonyms.add([f"word{number}" for number in range(21)])


def test_a_word_may_end_in_what_begins_a_comment(base: Base) -> None:
    done = base.synonyms.load("C# = csharp # a language\n#F# = fsharp\n\t# nothing\n")
    assert (done.groups, done.problems) == (1, ())
    assert base.synonyms.remove("csharp").words == ("C#", "csharp")


def test_synonyms_that_are_added_at_once_are_all_kept(base: Base) -> None:
    base.synonyms.add(["k8s", "Kubernetes"])
    more = [f"name{number}" for number in range(8)]

    def add(name: str) -> None:
        with knowbase.open(base.path) as other:
            start.wait()
            other.synonyms.add(["k8s", name])

    start = Barrier(len(more))
    with ThreadPoolExecutor(len(more)) as pool:
        list(pool.map(add, more))
    assert set(base.synonyms.remove("k8s").words) == {"k8s", "Kubernetes", *more}
    assert base.store.synonyms() == []


def test_documents_of_an_older_version_get_their_forms_by_a_sync(tmp_path: Path) -> None:
    with knowbase.create(str(tmp_path / "base.db")) as made:
        made.note(Note(TEXTS["A-6"], code="A-6"))
        made.store._connections.get().execute(  # type: ignore[attr-defined]
            "UPDATE chunks SET terms = 'A-6'; UPDATE documents SET split_by = '512/0.1/50'"
        )
        assert asked(made, "mittelalterlich")[0] == []
        assert made.status().out_of_step == 1
        made.sync()
        assert asked(made, "mittelalterlich")[0] == ["A-6"]
        assert made.status().out_of_step == 0
        assert made.check(deep=True).is_sound


def test_a_word_that_nobody_wrote_is_not_what_was_meant(base: Base) -> None:
    """`commutities` has the stem of `commuting`, and would lead there."""
    base.note(Note("Commuting is not paid for", code="A-10"))
    assert "A-10" not in asked(base, "communities")[0]
