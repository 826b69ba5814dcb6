"""Words too common to tell themes apart, and where lists of them come from."""

import re
from collections.abc import Iterable
from pathlib import Path

from diln.errors import SourceError

# English function words by kind. Words of one or two letters are below the usual minimum length but are listed for
# those who lower it. The last group is what is left of contractions when the apostrophe splits them (don't, we've).
ENGLISH = frozenset(
    """
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves one ones oneself someone somebody something anyone anybody
    anything everyone everybody everything nobody nothing none who whom whose which what whoever whatever whichever
    this that these those such same other others another

    a an the some any no every each either neither both all few fewer less least more most much many several enough
    own

    about above according across after against along alongside amid among amongst around as at atop away back because
    before behind below beneath beside besides between beyond by despite down during except for from in inside into
    like near of off on onto out outside over past per regarding since than through throughout thru till to toward
    towards under underneath unlike until unto up upon versus via with within without

    and but or nor so yet if unless although though while whilst whereas whether lest once when whenever where wherever
    why how however therefore thus hence thereby therein thereof thereupon hereby herein hereupon whereby wherein
    whereupon moreover furthermore nevertheless nonetheless otherwise instead meanwhile namely indeed

    am is are was were be been being do does did done doing have has had having can could may might must shall should
    will would ought cannot let lets get gets got getting become becomes became becoming seem seems seemed seeming
    go goes going went gone make makes made making say says said use uses used using

    again ago almost alone already also altogether always anyhow anyway anywhere apart else elsewhere especially even
    ever everywhere far further here hereafter hither indeed just largely lately later latter maybe mainly merely
    mostly never not now nowhere often only perhaps quite rather really seldom simply sometime sometimes somewhat
    somewhere soon still then thence there thereafter together too twice usually very well

    two three four five six seven eight nine ten first second third last next

    etc eg ie viz non

    ain aren couldn didn doesn don hadn hasn haven isn ll mightn mustn needn re shan shouldn ve wasn weren wouldn
    """.split()
)

# The most frequent words of some languages, to tell a text's by; whole lists are in the package stopwordsiso.
FREQUENT = {
    "en": "the and that for with was are this from have",
    "de": "der die und das den von ist nicht mit des dem ein eine auf für sich auch",
    "fr": "les des est dans une pour que qui sur par pas avec plus sont mais",
    "es": "los las del que por con una para como más pero este sus",
    "pt": "que uma para com não dos das mais por como mas seu foi",
    "it": "che della per con una sono del nel dei non alla più gli",
    "nl": "het een van dat niet zijn voor met aan ook maar wordt",
    "sv": "och att det som för den inte med till har ett från",
    "da": "det som til med den ikke har der for ved også være",
    "no": "det som til med den ikke har for ved også være ble",
    "fi": "että hän myös oli joka mutta ovat kun niin ole",
    "pl": "nie się jest jak dla tym przez oraz był może",
    "cs": "není jako pro jsou který ale také bylo jeho nebo",
    "ro": "este pentru care din mai sunt sau după dar fost",
    "hu": "hogy nem egy volt meg csak még már azt vagy",
    "tr": "bir için ile olarak daha olan çok gibi kadar sonra",
    "id": "yang dan untuk dari dengan ini itu pada tidak dalam",
    "vi": "của các không những được một cho với trong người",
    "ru": "что как это для его все был она они или",
    "uk": "що для від його але при або вона було який",
    "el": "και του της την που από για στο τον είναι",
    "ar": "من على إلى التي عن الذي هذا هذه كان بين",
    "fa": "این که است برای های شده یک کرد آن",
    "hi": "है और में की के से को का पर हैं",
}
COMMENT = re.compile(r"(?:^|\s)[#|]")  # in files of stop words: # or, as Snowball's have it, |


def stop_words(words: str | Path | Iterable[str] | None) -> frozenset[str]:
    """The set that ``words`` stands for: "english", "sklearn", a language such as "de", a file with a word a line,
    words, or None for no words.

    "sklearn" is scikit-learn's own English list, for comparison with counts made by CountVectorizer.
    """
    if words is None:
        return frozenset()
    if not isinstance(words, str | Path):
        return frozenset(words)
    if words == "none":
        return frozenset()
    if words == "english":
        return ENGLISH
    if words == "sklearn":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    if isinstance(words, str) and len(words) == 2 and words.isalpha() and not Path(words).exists():
        return _of_language(words.lower())
    return _from_file(Path(words))


def language_of(terms: Iterable[str]) -> tuple[str, list[str]]:
    """The language that most of these terms are frequent words of, by its code, and these words."""
    terms = list(terms)
    known = {language: set(words.split()) for language, words in FREQUENT.items()}
    hits = {language: [term for term in terms if term in words] for language, words in known.items()}
    return max(hits.items(), key=lambda pair: len(pair[1]))


def _of_language(code: str) -> frozenset[str]:
    try:
        from stopwordsiso import has_lang, langs, stopwords
    except ImportError:
        raise SourceError(
            f"the stop words of the language {code!r} need a package: pip install 'diln[languages]'; or name a file "
            "with a word a line"
        ) from None
    if not has_lang(code):
        raise SourceError(f"there are no stop words of the language {code!r}; there are {' '.join(sorted(langs()))}")
    return frozenset(stopwords(code))


def _from_file(path: Path) -> frozenset[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise SourceError(
            f"the stop words {str(path)!r} are neither 'english', 'sklearn' nor 'none', a language such as "
            f"'de' or a UTF-8 file with a word a line ({error}); name one of these"
        ) from None
    words = (COMMENT.split(line)[0].strip() for line in lines)
    return frozenset(word for word in words if word)
