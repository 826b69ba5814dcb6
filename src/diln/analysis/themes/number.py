"""How many themes: the rule for "auto"."""

import numpy as np
from numpy.typing import NDArray

LEAST, MOST = 5, 15  # themes, where there are topics enough
TOPICS = 2  # of a theme on average, at least: themes are the overview of topics, not their list once more
WORTH = 1 / 20  # what a further theme must tell apart, of what the first five do


def automatic(gains: NDArray[np.float64]) -> int:
    """The number of themes for a hierarchy whose splits gain so much (n_topics - 1,).

    Five, and one more, up to 15 and to half as many as there are topics, as long as the next split gains at least a
    twentieth of what the first five themes gain together. With five topics or fewer each is a theme; topics that
    nothing tells apart are one theme.
    """
    n_topics = len(gains) + 1
    least = gains[: LEAST - 1].sum() * WORTH
    if not least > 0:
        return 1
    if n_topics <= LEAST:
        return n_topics
    most = min(MOST, max(n_topics // TOPICS, LEAST))
    worth = gains[LEAST - 1 : most - 1] >= least
    return LEAST + int(np.argmin(np.append(worth, False)))
