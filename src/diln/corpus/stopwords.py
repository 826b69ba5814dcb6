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

COMMENT = re.compile(r"(?:^|\s)[#|]")  # in files of stop words: # or, as Snowball's have it, |


def stop_words(words: str | Path | Iterable[str] | None) -> frozenset[str]:
    """The set that ``words`` stands for: "english", "sklearn", a file with a word a line, words, or None for no words.

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
    return _from_file(Path(words))


def _from_file(path: Path) -> frozenset[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise SourceError(
            f"the stop words {str(path)!r} are neither 'english', 'sklearn' nor 'none', nor a UTF-8 file with a word "
            f"a line ({error}); name one of these"
        ) from None
    words = (COMMENT.split(line)[0].strip() for line in lines)
    return frozenset(word for word in words if word)
