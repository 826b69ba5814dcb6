"""A small corpus with texts, titles, dates and labels, its model, and a server of it for tests."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
from fastapi.testclient import TestClient

from diln import DILN
from diln.corpus import Corpus
from diln.show.explorer.app import make_app
from diln.show.explorer.desk import Desk
from diln.show.explorer.settings import Settings

THEMES = [
    "apple pear plum cherry orchard fruit harvest",
    "brake wheel engine gear motor fuel driver",
    "violin flute drum horn concert music orchestra",
    "vote party senate election minister law budget",
]
ODD = 'Café NEAR "quotes" (AND) x* <script>alert(1)</script> naïve résumé 日本語'


def make_corpus(n_docs: int = 160, seed: int = 0) -> Corpus:
    """Documents of one theme or two; the last has odd characters."""
    rng = np.random.default_rng(seed)
    chosen = [rng.choice(len(THEMES), 1 + number % 2, replace=False) for number in range(n_docs)]
    texts = [" ".join(rng.choice(" ".join(THEMES[one] for one in themes).split(), 40)) for themes in chosen]
    texts[-1] = f"{texts[-1]} {ODD}"
    return Corpus.from_texts(
        texts,
        ids=[f"doc-{number}" for number in range(n_docs)],
        titles=[f"About {text.split()[0]} {number}" for number, text in enumerate(texts)],
        dates=[str(date(2020, 1, 1) + timedelta(days=5 * number)) for number in range(n_docs)],
        labels=[f"label {themes[0]}" for themes in chosen],
        min_df=1,
        max_df=1.0,
    )


def make_model(folder: Path, corpus: Corpus, seed: int = 0) -> Path:
    """A fitted model beside its corpus."""
    if not (folder / "corpus").exists():
        corpus.save(folder / "corpus")
    model = DILN(n_components=6, n_dims=3, max_iter=40, random_state=seed, n_jobs=1).fit(corpus)
    model.save(folder / f"model{seed}")
    return folder / f"model{seed}"


def client(desk: Desk, **settings: object) -> TestClient:
    """Somebody who asks a server on this machine."""
    told = Settings.of("127.0.0.1", 8642, read_only=desk.read_only, page=True)
    changed = {name: getattr(told, name) for name in told.__slots__} | settings
    return TestClient(
        make_app(desk, Settings(**changed)), base_url="http://localhost:8642", raise_server_exceptions=False
    )
