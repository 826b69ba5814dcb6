"""How a model was made and how far it can be trusted, in plain words."""

from typing import Any

from diln import __version__
from diln.analysis import Atlas, Correlations, in_use
from diln.analysis.html import percent
from diln.files import read_manifest
from diln.models.files import MODEL
from diln.models.fitted import Fitted
from diln.models.parameters import defaults, plain
from diln.show.report.words import counted

TOPICS = (
    "A topic is a group of words that turn up in the same documents; a document is a mixture of several topics. Nobody "
    "told the model what to look for: topics come from the words alone, and the labels here are their telling words "
    "unless somebody has named them."
)
MODELS = {
    "DILN": "The model is a DILN (discrete infinite logistic normal distribution). Topics and documents have places in "
    "one space{dims}. Topics that lie in the same direction go together in documents; topics that lie in opposite "
    "directions avoid each other.",
    "HDP": "The model is an HDP (hierarchical Dirichlet process). It does not tell which topics go together: its "
    "topics have no places.",
    "LDA": "The model is LDA (latent Dirichlet allocation) with a given number of topics. It does not tell which "
    "topics go together: its topics have no places.",
    "CTM": "The model is a CTM (correlated topic model) with a given number of topics. It tells which topics go "
    "together by the covariance of their weights in documents.",
}
PAPERS = {
    "DILN": "Paisley, J., Wang, C. and Blei, D. M. (2012). The discrete infinite logistic normal distribution. "
    "Bayesian Analysis 7(4), 997-1034. doi:10.1214/12-BA734",
    "HDP": "Teh, Y. W., Jordan, M. I., Beal, M. J. and Blei, D. M. (2006). Hierarchical Dirichlet processes. Journal "
    "of the American Statistical Association 101(476), 1566-1581. doi:10.1198/016214506000000302",
    "LDA": "Blei, D. M., Ng, A. Y. and Jordan, M. I. (2003). Latent Dirichlet allocation. Journal of Machine Learning "
    "Research 3, 993-1022.",
    "CTM": "Blei, D. M. and Lafferty, J. D. (2007). A correlated topic model of Science. Annals of Applied Statistics "
    "1(1), 17-35. doi:10.1214/07-AOAS114",
}
SOFTWARE = "The diln developers. diln: topic models with the discrete infinite logistic normal distribution."
NOT_TOLD = {"n_jobs", "random_state", "verbose"}  # parameters that do not describe the model


def about(atlas: Atlas, n_shown: int) -> dict[str, Any]:
    """A model and its corpus in numbers, and what is known of them."""
    fitted, corpus = atlas.fitted, atlas.corpus
    known = () if corpus is None else corpus.documents.fields
    return {
        "kind": fitted.kind,
        "name": "" if atlas.directory is None else atlas.directory.resolve().name,
        "documents": round(fitted.population) if corpus is None else len(corpus),
        "tokens": round(float(fitted.posterior.topic_tokens.sum())) if corpus is None else corpus.n_tokens,
        "terms": len(fitted.vocabulary),
        "topics": n_shown,
        "topics_in_use": fitted.n_topics,
        "n_chains": fitted.n_chains,
        "hidden": len(atlas.edits.hidden),
        "merged": sum(len(group) - 1 for group in atlas.edits.merges),
        "has": {name: name in known for name in ("title", "date", "label", "text")},
        "located": fitted.locations is not None,
    }


def method(atlas: Atlas) -> list[str]:
    """How the model was made, a paragraph each."""
    fitted = atlas.fitted
    dims = "" if fitted.locations is None else f" of {counted(fitted.locations.shape[1], 'dimension')}"
    told = [TOPICS, MODELS.get(fitted.kind, f"The model is a {fitted.kind}.").format(dims=dims), _size(fitted)]
    return [*told, *_text(fitted), _fit(fitted), *_edits(atlas)]


def _size(fitted: Fitted) -> str:
    room, used = fitted.posterior.n_topics, fitted.n_topics
    if used == room:
        return f"The model has {counted(room, 'topic')}, as many as it was asked for."
    return (
        f"The model has room for {room:,} topics and uses {used:,}: a topic is in use if it holds at least one in 500 "
        "words. The number tells how finely a model of this size divides these documents; it is not a property of them."
    )


def _text(fitted: Fitted) -> list[str]:
    """How text became counts, where that is known."""
    rule = fitted.rule
    if rule is None:
        return ["How text became words is not known: the model was fitted to counts."]
    if rule.get("tokenizer") is not None:
        words = f"Words are what the tokenizer {rule['tokenizer']} made of the text"
    elif rule.get("token_pattern") is not None:
        words = f"Words are what this pattern finds in the text: {rule['token_pattern']}"
    else:
        case = " in lower case" if rule.get("lowercase", True) else ""
        words = f"Words are runs of letters{case} of at least {counted(rule.get('min_length') or 3, 'character')}"
        if rule.get("acronyms") and rule.get("alphabet", "unicode") == "unicode":
            words += ", and shorter ones in capitals"
    if not rule.get("addresses", True):
        words += ", without web addresses and names with @"
    stop = rule.get("stop_words")
    left = "no common words were left out" if stop is None else f"common words were left out ({_stop_list(stop)})"
    runs = rule.get("ngram_range") or (1, 1)
    phrases = f", and phrases of up to {runs[1]} words count as words" if runs[1] > 1 else ""
    kept = f"The vocabulary has the {counted(len(fitted.vocabulary), 'word')} that are in enough documents."
    return [f"{words}; {left}{phrases}. {kept}"]


def _stop_list(stop: Any) -> str:
    return f"the list “{stop}”" if isinstance(stop, str) else "a list of its own"


def _fit(fitted: Fitted) -> str:
    documents = counted(fitted.population, "document")
    if fitted.inference == "sampling":
        how, passes, averaged = "sampling", "sweep", fitted.states_averaged or 0
        mean = f" and is the mean of the last {averaged:,} states" if averaged > 1 else ""
    else:
        how, passes, mean = "variational inference", "pass", ""
    over = counted(fitted.passes, passes, "passes" if passes == "pass" else None)
    ended = " It was stopped before it had converged." if fitted.stopped not in (None, "chains") else ""
    return (
        f"It was fitted by {how} in {over} over {documents}{mean}. The seed {fitted.seed} gives the same model.{ended}"
    )


def _edits(atlas: Atlas) -> list[str]:
    """What somebody has changed by hand."""
    edits = atlas.edits
    parts = [
        counted(len(edits.labels), "topic was named", "topics were named") if edits.labels else "",
        counted(len(edits.merges), "group of topics was merged", "groups of topics were merged")
        if edits.merges
        else "",
        counted(len(edits.hidden), "topic is hidden", "topics are hidden") if edits.hidden else "",
    ]
    done = ", ".join(part for part in parts if part)
    return [f"By hand: {done}. The numbers of the model are as they were fitted."] if done else []


def how_sure(atlas: Atlas, pairs: Correlations | None) -> list[str]:
    """What another run would find again, or that this is unknown, a paragraph each."""
    fitted = atlas.fitted
    if (agreement := fitted.agreement) is None:
        return [_unknown(fitted)]
    used = in_use(fitted)
    everywhere = int((agreement.found[used] == agreement.n_chains).sum())
    told = [
        f"The model was fitted {agreement.n_chains} times from different starts (chains), and this is the first of "
        f"them. {everywhere:,} of its {int(used.sum()):,} topics were found in all of them; another chain finds "
        f"{percent(agreement.share(used))} of the topics. A topic that few chains found is one way among others to "
        "divide the documents: its words do belong together, but another run may cut elsewhere."
    ]
    if pairs is not None and pairs.n_sure is not None:
        told += [
            f"{pairs.n_sure:,} of {pairs.n_pairs:,} pairs of topics are sure: another chain that finds both topics has "
            "them on the same side of chance in 19 of 20 cases. Only these are drawn as lines."
        ]
    return told


def _unknown(fitted: Fitted) -> str:
    """Why nobody knows how much of a model another run would find, and what to do."""
    if fitted.n_chains is None:
        how, do = "The model was fitted by variational inference", "--inference sampling --chains 4"
    else:
        how, do = "The model was fitted with one chain", "--chains 4"
    return (
        f"{how}: how many of its topics and pairs of topics another run would find is unknown. Fit it with {do} to "
        "see, in this report, which topics are found again and which pairs are sure."
    )


def settings(atlas: Atlas) -> list[tuple[str, str]]:
    """Settings and numbers of the fit, by name."""
    fitted = atlas.fitted
    default = {**defaults(fitted.kind, fitted.parameters.inference), "inference": "sampling"}
    values = fitted.parameters.to_json()
    changed = {one: value for one, value in values.items() if one not in NOT_TOLD and value != plain(default[one])}
    variance = fitted.location_variance
    rows = {
        "Model": fitted.kind,
        "Documents fitted": f"{fitted.population:,.0f}",
        "Vocabulary": f"{len(fitted.vocabulary):,} words",
        "Topics": f"{fitted.n_topics:,} in use of {fitted.posterior.n_topics:,}",
        "Inference": f"{fitted.inference}, learning: {fitted.method}",
        "Passes over the documents": f"{fitted.passes:,}",
        "Chains": "" if fitted.n_chains is None else f"{fitted.n_chains}",
        "Concentration of topics in the corpus (alpha)": "" if fitted.alpha is None else f"{fitted.alpha:.3g}",
        "Concentration of topics in a document (beta)": "" if fitted.beta is None else f"{fitted.beta:.3g}",
        "Prior of words in a topic": f"{fitted.posterior.prior:.3g}",
        "Prior variance of places": "" if variance is None else f"{variance:.3g}",
        "Settings that are not the defaults": ", ".join(f"{name} = {value}" for name, value in changed.items())
        or "none",
        "Seed": f"{fitted.seed}",
    }
    return [(name, value) for name, value in rows.items() if value]


def versions(atlas: Atlas) -> dict[str, str]:
    """Versions of what the model and the report were made with, and the day of the fit where it is known."""
    manifest = {} if atlas.directory is None else read_manifest(atlas.directory, MODEL)
    fit = ", ".join(f"{name} {number}" for name, number in manifest.get("versions", {}).items())
    return {"Fitted with": fit, "Fitted on": str(manifest.get("date", "")), "Report made with": f"diln {__version__}"}


def cited(atlas: Atlas) -> list[str]:
    """What to cite."""
    kind = atlas.fitted.kind
    own = f"{SOFTWARE} Version {__version__}."
    return [own, *([PAPERS[kind]] if kind in PAPERS else [])]
