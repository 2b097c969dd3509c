"""English words that say nothing about what is looked for.

They are left out of a query that has other words: they cost the most time to match and,
in a small base, where every word is rare, they would outweigh the words that matter.
"""

_WORDS = (
    "a about above after again against all also am an and any are as at be because been "
    "before being below between both but by can could did do does doing down during each few "
    "for from further had has have having he her here hers herself him himself his how i if "
    "in into is it its itself just me more most my myself no nor not now of off on once only "
    "or other our ours ourselves out over own same shall she should so some such than that "
    "the their theirs them themselves then there these they this those through to too under "
    "until up very was we were what when where which while who whom why will with would you "
    "your yours yourself yourselves "
)

STOP_WORDS = frozenset(_WORDS.split())

_SHARED = (
    "a all am an as at be by did do for had has have he her his i in is me no on out over so to "
    "under was we will"
)
ENGLISH_WORDS = STOP_WORDS - frozenset(_SHARED.split())
"""Those that tell English from other languages: a text in Hungarian is full of a, one in Polish of
i, do and to."""

_OTHER_WORDS = (
    # German, Dutch
    "der die das und ist nicht ein eine einer einem einen eines den dem des mit von vom zu zum zur "
    "auf für sich wird werden wurde wurden im auch als bei nach wie oder aus dass sind war waren "
    "hat haben welche welcher welches wer wann wo warum wieviel viele de het een en van dat op te "
    "zijn voor niet aan er ook als bij wat werd wordt door naar hoe "
    # French, Italian, Spanish, Portuguese, Romanian
    "le la les et est une du dans pour que qui sur pas par plus avec sont aux au ce cette ou quel "
    "quelle elle il lo gli di che un una per con del della dei delle non è sono come più al alla "
    "nel el los las por para se es su sus fue más qué quién cuál cuándo dónde cómo lo  "
    "uma da dos das não são mais ao foi na no nos și în cu pe din este sunt care ce "
    "fost mai unde când cine să lui "
    # Swedish, Danish, Norwegian, Finnish
    "och att det som på är av för med till inte ett vad hur og er af ikke til hva hvad ja on "
    "ei oli että mitä "
    # Polish, Czech, Hungarian, Croatian
    "nie się jest że jak przez co który która kto gdzie kiedy je že az és egy "
    "hogy nem volt su koji što "
    # Turkish, Indonesian; Vietnamese words have one form each
    "ve bir bu da için ile olarak olan daha ne hangi nasıl kim kaç yang dan di dengan untuk dari "
    "ini itu adalah pada tidak "
)

FOREIGN_WORDS = frozenset(_OTHER_WORDS.split()) - STOP_WORDS
"""Words that nearly every text of another language in Latin letters has."""
