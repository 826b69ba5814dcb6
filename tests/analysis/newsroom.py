"""A small newspaper: texts of four sections with dates, labels and titles, and models fitted to them."""

from functools import cache

import numpy as np

from diln import DILN, LDA, Corpus, Sampling
from diln.analysis import Atlas

SECTIONS = {
    "law": "court judge trial lawyer jury verdict appeal prison charge crime police sentence".split(),
    "sport": "game team coach player goal league season match score stadium champion fans".split(),
    "money": "market stock price bank trade profit tax budget economy investor company shares".split(),
    "space": "rocket planet orbit satellite launch moon astronaut telescope galaxy comet mission engine".split(),
}
FILLER = "said people time year new last week today".split()


def article(section: str, rng: np.random.Generator, size: int) -> str:
    """Sentences of words of a section, with some of another's and of everybody's."""
    other = SECTIONS[str(rng.choice([name for name in SECTIONS if name != section]))]
    words = []
    for _ in range(size):
        pool = SECTIONS[section] if rng.random() < 0.75 else other if rng.random() < 0.4 else FILLER
        words.append(str(rng.choice(pool)))
    sentences = [" ".join(words[at : at + 8]).capitalize() + "." for at in range(0, len(words), 8)]
    return " ".join(sentences)


def articles(n_docs: int = 160, seed: int = 0):
    """Texts, labels and dates: law early, space late, and the other two all along."""
    rng = np.random.default_rng(seed)
    texts, labels, dates = [], [], []
    for at in range(n_docs):
        month = at * 12 // n_docs
        often = [2.0 * (12 - month) / 12, 1.0, 1.0, 2.0 * month / 12]
        section = str(rng.choice(list(SECTIONS), p=np.array(often) / sum(often)))
        texts.append(article(section, rng, int(rng.integers(20, 80))))
        labels.append(section)
        dates.append(f"2020-{month + 1:02}-{rng.integers(1, 28):02}")
    return texts, labels, dates


@cache
def paper(n_docs: int = 160) -> Corpus:
    texts, labels, dates = articles(n_docs)
    titles = [f"Number {at}" for at in range(n_docs)]
    return Corpus.from_texts(texts, labels=labels, dates=dates, titles=titles, min_df=1, max_df=1.0)


@cache
def uneven() -> Atlas:
    """The same newspaper with a document of another year, and so a period of one document."""
    texts, labels, dates = articles(160)
    dates[-1] = "2021-01-11"
    corpus = Corpus.from_texts(texts, labels=labels, dates=dates, min_df=1, max_df=1.0)
    return Atlas(editor(), corpus)


@cache
def editor(n_chains: int = 1) -> DILN:
    return DILN(12, n_dims=2, max_iter=40, random_state=0, inference=Sampling(n_chains=n_chains)).fit(paper())


@cache
def plain_editor() -> LDA:
    return LDA(5, max_iter=30, random_state=0).fit(paper())


@cache
def atlas(n_chains: int = 1) -> Atlas:
    return Atlas(editor(n_chains), paper())
