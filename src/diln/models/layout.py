"""What is in the files of models and checkpoints: every field and tensor, as ``docs/files.md`` shows them.

A change here is a change of the format; ``docs/developing.md`` says what goes with it.
"""

from diln.corpus.layout import RULE
from diln.fields import Field, Record, Tensor

MOST_TOPICS = 65_520
MOST_SWEEPS = 2**31
HUGE = 1e30  # numbers beyond are of no corpus, and products of them of no single precision
HEAVY = 1e7  # of a weight: with more, steps of a stream have no single precision
TINY = 1e-30  # likewise
FAR = 1e4  # of a location or a log weight

STATE: Record = (
    Field("seed", "seed", "What all randomness comes from, with the numbers of steps and documents", least=0),
    Field("steps", "whole", "Steps of online learning made", least=0, most=MOST_SWEEPS),
    Field("seen", "whole", "Documents visited, each as often as it was", least=0),
    Field("population", "number", "Documents that the model stands for", least=0, most=HUGE),
    Field("passes", "whole", "Passes over the documents that `fit` was given", least=0, most=MOST_SWEEPS),
    Field("method", "text", "How it was learned", choices=("batch", "grow", "online")),
    Field(
        "stopped",
        "text",
        "What was under way when the user ended the fit, passes too are sweeps; null if it came to its end",
        None,
        choices=("sweeps", "steps", "chains"),
        null=True,
    ),
)

PROGRESS: Record = (
    Field("iteration", "whole", "Sweep or pass, from 1 on", least=0),
    Field("documents", "whole", "Documents visited so far, each as often as it was", least=0),
    Field("seconds", "number", "Time since the fit began", least=0),
    Field("n_topics", "whole", "Topics in use", least=0),
    Field("bound", "any number", "Lower bound of the log probability; variational inference", None, null=True),
    Field("terms", "by name", "The terms that the bound is the sum of", dict),
    Field("perplexity", "any number", "Perplexity of some documents, where it was asked for", None, null=True),
    Field("alpha", "any number", "alpha", None, null=True),
    Field("beta", "any number", "beta", None, null=True),
    Field("score", "any number", "Mean of ln p(a token's term given all other tokens); sampling", None, null=True),
    Field("topic_word_prior", "any number", "gamma_0; sampling", None, null=True),
    Field("location_variance", "any number", "c; sampling of DILN", None, null=True),
    Field("n_components", "whole", "Topics that there are, in use or not; sampling", None, null=True),
    Field("n_states", "whole", "States averaged so far; sampling", None, null=True),
    Field("correlations", "by name", "Correlations of up to 12 pairs of topics: `3-17` is of topics 3 and 17", dict),
    Field("chain", "whole", "Always null", None, null=True),
    Field("chains_done", "whole", "Always null", None, null=True),
)

NUMBERS: Record = (  # of a state of a chain, beside its tensors; which there are follows from the model
    Field("n_topics", "whole", "T, the topics that there are, in use or not", least=1, most=MOST_TOPICS),
    Field("prior", "float", "gamma_0", above=TINY, most=HUGE),
    Field("alpha", "float", "alpha. DILN, HDP, LDA", above=TINY, most=HUGE),
    Field("variance", "float", "c; 1 of a model without locations. DILN, HDP, LDA", above=TINY, most=HUGE),
    Field("truncation", "whole", "T of the prior: a0_k is from Gamma(alpha / T, f_0). DILN, HDP, LDA", least=1),
)

SAMPLED: Record = (
    Field("state", "object", 'Numbers of the mean of the averaged states: the record "Numbers of a state"'),
    Field("states", "records", "The same of each state that is kept, the oldest first", list),
    Field("n_states", "whole", "States averaged", least=1, most=MOST_SWEEPS),
)

BORN: Record = (
    Field("topic", "whole", "Its number", least=0, most=MOST_TOPICS),
    Field("documents", "whole", "Documents that updates had brought by then", least=0),
)

STREAM: Record = (
    Field("first_terms", "whole", "Terms before the first update", least=1),
    Field("first_topics", "whole", "Topics before the first update", least=1, most=MOST_TOPICS),
    Field("documents", "whole", "Documents that updates have brought", least=0),
    Field("day", "number", "Date of the latest documents, in days since 1970; null if unknown", None, null=True),
    Field("score", "float", "Mean of the documents' scores, late ones more", least=-1e6, most=1e6),
    Field("variance", "float", "Variance of them", least=0, most=1e12),
    Field("scored", "whole", "Documents that these are of", least=0),
    Field("seen", "float", "Documents that the candidates were counted in, old ones less", least=0, most=HUGE),
    Field("missed", "float", "By how much the count of a candidate may be too low", least=0, most=HUGE),
    Field("candidates", "texts", "Terms that the vocabulary does not have, in alphabetical order", list),
    Field("born", "records", "Topics that came in, in order", list, of=BORN),
)

MODEL_CONTENT: Record = (
    Field("class", "text", "`DILN`, `HDP`, `LDA` or `CTM`"),
    Field("parameters", "object", 'What the fit was told: the record "Parameters"'),
    Field("prior", "float", "gamma_0", above=TINY, most=HUGE),
    Field("state", "record", "How far learning has come", of=STATE),
    Field(
        "history",
        "records",
        "Every sweep, pass or step, the first one first; of a stream the last 10,000",
        list,
        of=PROGRESS,
    ),
    Field("rule", "record", "How text was made into counts; null where that is not known", None, null=True, of=RULE),
    Field("named", "flag", "Whether the counts came with the names of their columns", False),
    Field("sampled", "record", "Numbers that belong to the tensors. Sampling only", None, null=True, of=SAMPLED),
    Field(
        "n_chains",
        "whole",
        "Chains over the same documents, where there were several",
        None,
        least=2,
        most=65_535,
        null=True,
    ),
    Field("stream", "record", "How far updates have come; null before the first", None, null=True, of=STREAM),
)

RUN: Record = (
    Field("number", "whole", "Sweeps made", least=0, most=MOST_SWEEPS),
    Field("size", "whole", "Documents in play, the first so many", least=0),
    Field(
        "opened",
        "whole",
        "The sweep before which locations or log weights came in; null before",
        None,
        least=0,
        null=True,
    ),
    Field("state", "object", 'Numbers of the current state: the record "Numbers of a state"'),
    Field("scores", "any numbers", "Mean of ln p(a token's term given all others) of each sweep"),
    Field("spreads", "any numbers", "Ln of the log weights' variance after each sweep; CTM", list),
    Field("seconds", "number", "Time spent", least=0),
    Field("visited", "whole", "Documents visited, each as often as it was", least=0),
    Field("done", "flag", "Whether it was the last sweep"),
    Field("n_states", "whole", "States averaged so far", least=0, most=MOST_SWEEPS),
    Field("means", "by name", "Sums of `prior`, `alpha` and `variance` over these states"),
    Field("kept", "records", "Numbers of each state that is kept, the oldest first", list),
    Field(
        "followed",
        "wholes",
        "Of each pair of topics in `correlations` their numbers when they were chosen, and now; -1 of one that is gone",
        list,
    ),
)

CHAIN: Record = (
    Field("run", "record", "The chain", of=RUN),
    Field("history", "records", "As in a model", list, of=PROGRESS),
)

CHECKPOINT_CONTENT: Record = (
    Field("seed", "seed", "Seed of the chain", least=0),
    Field("phase", "text", "What the fit was at", choices=("chain", "online")),
    Field("chain", "record", "Phase `chain`: a chain of states over all documents", None, null=True, of=CHAIN),
    Field("online", "record", "Phase `online`: the content of a model", None, null=True, of=MODEL_CONTENT),
    Field("fingerprint", "object", "What the fit was told, its `model`, and a digest of its `documents`"),
)

STATE_TENSORS = (  # of a state of a chain
    Tensor(
        "table",
        "float32",
        ("terms", "width"),
        "n_kw, tokens of each term in each topic",
        least=0,
        most=HUGE,
        lanes=True,
    ),
    Tensor("totals", "float64", ("width",), "n_k, tokens of each topic", least=0, most=HUGE, lanes=True),
    Tensor("a0", "float64", ("width",), "a0_k. DILN, HDP, LDA", least=0, most=HEAVY, above=TINY, lanes=True),
    Tensor("ells", "float32", ("dims", "width"), "ell_k. DILN, HDP, LDA", least=-FAR, most=FAR, lanes=True),
    Tensor("mean", "float64", ("topics",), "mu. CTM", least=-FAR, most=FAR),
    Tensor("covariance", "float64", ("topics", "topics"), "Sigma. CTM", least=-HUGE, most=HUGE),
)

SUM_TENSORS = (  # what online learning goes on from
    Tensor("tables", "float64", ("width",), "t_k. DILN, HDP, LDA", least=0, most=HUGE),
    Tensor("softs", "float64", ("width",), "Sum of ln(1 + e^psi). DILN, HDP, LDA", least=0, most=HUGE),
    Tensor(
        "precision",
        "float64",
        ("width", "pairs"),
        "Sum of omega u u', the lower triangle row by row. DILN, HDP, LDA",
        least=-HUGE,
        most=HUGE,
    ),
    Tensor(
        "linear",
        "float64",
        ("dims", "width"),
        "Sum of ((n - a0) / 2 - omega s) u. DILN, HDP, LDA",
        least=-HUGE,
        most=HUGE,
    ),
    Tensor("moments", "float64", ("1 + topics", "1 + topics"), "Sum of (1, eta)(1, eta)'. CTM", least=-HUGE, most=HUGE),
)

SPREAD_TENSORS = (  # what is known of several states beside their mean
    Tensor(
        "products",
        "float32",
        ("topics", "topics"),
        "Mean over states of ell_i . ell_j. DILN",
        least=-HUGE,
        most=HUGE,
        beside="table",
    ),
    Tensor(
        "spread",
        "float32",
        ("topics", "topics"),
        "Deviation of the topics' covariance over states. DILN, CTM",
        least=0,
        most=HUGE,
        beside="table",
    ),
)

VARIATIONAL_TENSORS = (
    Tensor(
        "statistics",
        "float32",
        ("terms", "topics"),
        "lam_kw - gamma_0, expected tokens of each term in each topic",
        least=0,
        most=HUGE,
    ),
    Tensor("a0", "float64", ("topics",), "a0_k. DILN, HDP, LDA", above=TINY, most=1e12),
    Tensor("alpha", "float64", ("one",), "alpha. DILN, HDP", above=TINY, most=HUGE),
    Tensor(
        "tables", "float64", ("topics",), "t_k. DILN, HDP, LDA that learns its prior", least=0, most=HUGE, beside="a0"
    ),
    Tensor(
        "lifts", "float64", ("topics",), "h_k. DILN, HDP, LDA that learns its prior", least=0, most=HUGE, beside="a0"
    ),
    Tensor("locations", "float64", ("topics", "dims"), "ell_k. DILN", least=-FAR, most=FAR),
    Tensor("mean", "float64", ("topics",), "mu. CTM", least=-FAR, most=FAR),
    Tensor("covariance", "float64", ("topics", "topics"), "Sigma. CTM", least=-HUGE, most=HUGE),
    Tensor(
        "moments",
        "float64",
        ("1 + topics", "1 + topics"),
        "Sum of E (1, eta)(1, eta)'. CTM",
        least=-HUGE,
        most=HUGE,
        beside="mean",
    ),
)

AGREEMENT_TENSORS = (  # of a model that was fitted with several chains
    Tensor(
        "agreement.found", "int64", ("topics",), "Chains that have found a topic, the model's own among them", least=1
    ),
    Tensor(
        "agreement.together",
        "uint16",
        ("topics", "topics"),
        "Chains that have found both topics",
        least=1,
        beside="agreement.found",
    ),
    Tensor(
        "agreement.log_lift",
        "float32",
        ("topics", "topics"),
        "Mean over these chains of the topics' covariance",
        beside="agreement.found",
    ),
    Tensor(
        "agreement.between",
        "float32",
        ("topics", "topics"),
        "Its variance over these chains",
        least=0,
        beside="agreement.found",
    ),
    Tensor(
        "agreement.within",
        "float32",
        ("topics", "topics"),
        "Mean over these chains of its variance in each",
        least=0,
        beside="agreement.found",
    ),
)

TRAINED_TENSORS = (  # of a model that keeps which documents it was trained on
    Tensor(
        "trained",
        "int64",
        ("hashes",),
        "Hashes of the documents that the model was trained on, as unsigned numbers: the 16,384 smallest of all that "
        "differ, ascending. A hash is the sum, modulo 2^64, over the document's terms of splitmix64's output for 2^32 "
        "times the term's number plus the bits of its count as float32",
    ),
)

STREAM_TENSORS = (  # of a model that was updated
    Tensor(
        "stream.counts",
        "float64",
        ("candidates",),
        "Documents that each candidate was in, old ones less",
        least=0,
        most=HUGE,
    ),
    Tensor("stream.offsets", "int64", ("pooled + 1",), "Where each document's entries begin, and the end", least=0),
    Tensor("stream.terms", "int64", ("pooled entries",), "Terms of late documents that the model explains badly"),
    Tensor("stream.tokens", "float32", ("pooled entries",), "How often each is there", above=0, most=HUGE),
)

DOCUMENT_TENSORS = (  # of a checkpoint, phase chain
    Tensor(
        "topics",
        "uint16",
        ("tokens",),
        "C_mn, the topic of every token, documents one after the other; 65535 before the first draw",
    ),
    Tensor("u", "float32", ("documents", "dims"), "u_m. DILN, HDP, LDA", least=-FAR, most=FAR),
    Tensor("s", "float32", ("documents",), "s_m. DILN, HDP, LDA", least=-FAR, most=FAR),
    Tensor("eta", "float32", ("documents", "width"), "eta_mk. CTM once it has log weights", least=-FAR, most=FAR),
)

AVERAGE_TENSORS = (  # of a checkpoint, phase chain, once states are averaged
    Tensor("average.table", "float32", ("terms", "width"), "Sum over states of `table`", least=0, most=HUGE),
    Tensor("average.totals", "float64", ("width",), "Sum over states of `totals`", least=0, most=HUGE),
    Tensor("average.a0", "float64", ("width",), "Sum over states of `a0`", least=0, most=HUGE),
    Tensor(
        "average.ells",
        "float64",
        ("dims", "width"),
        "Sum over states of `ells`, turned to fit each other",
        least=-HUGE,
        most=HUGE,
    ),
    Tensor("average.mean", "float64", ("topics",), "Sum over states of `mean`", least=-HUGE, most=HUGE),
    Tensor(
        "average.covariance", "float64", ("topics", "topics"), "Sum over states of `covariance`", least=-HUGE, most=HUGE
    ),
    Tensor(
        "average.products",
        "float32",
        ("topics", "topics"),
        "Mean over states of the topics' covariance, the lower triangle",
        least=-HUGE,
        most=HUGE,
        beside="average.table",
    ),
    Tensor(
        "average.squares",
        "float32",
        ("topics", "topics"),
        "Sum of squared deviations from it, the lower triangle",
        least=0,
        most=HUGE,
        beside="average.table",
    ),
)

EVERY_TENSOR = (
    *STATE_TENSORS,
    *SUM_TENSORS,
    *SPREAD_TENSORS,
    *VARIATIONAL_TENSORS,
    *AGREEMENT_TENSORS,
    *TRAINED_TENSORS,
    *STREAM_TENSORS,
    *DOCUMENT_TENSORS,
    *AVERAGE_TENSORS,
)
