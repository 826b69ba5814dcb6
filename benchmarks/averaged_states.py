"""What averaging predictions over more states is worth, to DILN and to tomotopy's LDA: perplexity by number of states.

python benchmarks/averaged_states.py DATA [--corpus ap] [--size 400] [--eta 0.02] [--sweeps 400] [--states 1 3 10 30]

A token's probability is the mean over the last so many states, each with its own topics and proportions. tomotopy's are
as far apart as the second half of its sweeps allows; DILN's are its last sweeps, as ``keep_states`` has them. The last
line is DILN's one model, the mean of its states, which is what everything else here judges.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from diln import DILN, Sampling
from diln.engine.threads import Threads
from peers.judge import TOLERANCE, TURNS, Judge
from peers.split import written
from peers.tools import counts_of, tomotopy_topics, words_of
from peers.watch import Array, State

Pairs = list[tuple[State, Array]]


def of_tomotopy(folder: Path, judge: Judge, size: int, eta: float, sweeps: int, most: int) -> Pairs:
    import tomotopy

    train, model, pairs = counts_of(folder), tomotopy.LDAModel(k=size, eta=eta, seed=0), []
    for m in range(train.shape[0]):
        model.add_doc(words_of(train, m))
    stride = max(1, sweeps // 2 // most)
    model.train(sweeps - most * stride, workers=1)
    for _ in range(most):
        model.train(stride, workers=1)
        state = State.of(tomotopy_topics(model, train.shape[1]), model.alpha, model.get_count_by_topics())
        pairs.append((state, judge.proportions(state)))
    return pairs


def of_diln(judge: Judge, most: int) -> tuple[Pairs, float]:
    model = DILN(random_state=0, inference=Sampling(keep_states=most)).fit(judge.train)
    with Threads(1) as threads:
        draws = model.fitted_.posterior.draws(judge.observed, TURNS, TOLERANCE, most, np.random.default_rng(0), threads)
        pairs = [(State(topics, np.empty(0), np.empty(0)), theta) for topics, theta in draws]
    return pairs, model.perplexity(judge.observed, judge.held_out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpus", default="ap")
    parser.add_argument("--size", type=int, default=400)
    parser.add_argument("--eta", type=float, default=0.02)
    parser.add_argument("--sweeps", type=int, default=400)
    parser.add_argument("--states", type=int, nargs="+", default=[1, 3, 10, 30])
    given = parser.parse_args()
    most = max(given.states)
    with TemporaryDirectory() as temporary:
        folder = written(Path(temporary), given.data, given.corpus, 0, False)
        judge = Judge.of(folder)
        theirs = of_tomotopy(folder, judge, given.size, given.eta, given.sweeps, most)
        ours, one = of_diln(judge, most)
    print(f"states  tomotopy LDA {given.size}    DILN")
    for number in given.states:
        spread = theirs[most // number - 1 :: most // number][-number:]
        print(f"{number:6}  {judge.averaged(spread):16.0f}  {judge.averaged(ours[-number:]):6.0f}")
    print(f"one model, the mean of DILN's states: {one:.0f}")


if __name__ == "__main__":
    main()
