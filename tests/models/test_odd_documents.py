"""What a user can get wrong gets a sentence that says what to do; what is merely odd works."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer
from telling import told

from diln import CTM, DILN, HDP, LDA, Corpus, DilnWarning, load
from diln.corpus import build

MODELS = [DILN, HDP, LDA, CTM]
COUNTS = np.random.default_rng(0).poisson(1.0, (30, 12))


each_way = pytest.mark.parametrize("inference", ["sampling", "variational"])


def small(model, inference="sampling", **given):
    return told(model, **{"inference": inference, "n_components": 4, "random_state": 0, "max_iter": 3, **given})


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (COUNTS - 1, "Negative values"),
        (csr_array(COUNTS - 1), "Negative values"),
        (np.where(COUNTS == 2, np.nan, COUNTS), "NaN"),
        (np.where(COUNTS == 2, np.inf, COUNTS), "infinite"),
        (np.zeros((0, 12)), "0 sample"),
        (np.zeros((30, 0)), "0 feature"),
        (np.zeros((30, 12)), "no document has a token"),
        (COUNTS[0], "1D array"),
        ([["a", "b"]], r"was given lists of words, which Corpus.from_tokens\(documents\) counts"),
        (COUNTS / COUNTS.sum(axis=1, keepdims=True), "raw counts"),
        (COUNTS / np.linalg.norm(COUNTS, axis=1, keepdims=True), "CountVectorizer in place of TfidfVectorizer"),
    ],
    ids=[
        "negative", "sparse-negative", "nan", "infinite", "no-documents", "no-terms", "all-zero", "one-row", "strings",
        "proportions", "unit-rows",
    ],
)  # fmt: skip
@each_way
def test_what_cannot_be_counts_is_refused(model, inference, counts, message):
    with pytest.raises(ValueError, match=message):
        small(model, inference).fit(counts)


def test_tf_idf_is_refused():
    table = TfidfVectorizer().fit_transform(["a fox and a dog", "a dog or two dogs", "no fox here"])
    with pytest.raises(ValueError, match="raw counts"):
        small(LDA).fit(table)


@pytest.mark.parametrize("model", MODELS)
def test_fractional_weights_are_taken_with_a_warning(model):
    with pytest.warns(DilnWarning, match=r"not whole numbers; they are taken as weights of terms"):
        fitted = small(model, "variational").fit(COUNTS * 1.5)
    assert np.isfinite(fitted.topic_word_).all()


@pytest.mark.parametrize("model", MODELS)
def test_sampling_rounds_fractions_up_at_every_door(model):
    odd = COUNTS * 0.75
    with pytest.warns(DilnWarning, match=r"not whole numbers; they are rounded up"):
        fitted = small(model).fit(odd)
    up = small(model).fit(np.ceil(odd))
    np.testing.assert_array_equal(fitted.components_, up.components_)
    with pytest.warns(DilnWarning, match="rounded up"):
        np.testing.assert_array_equal(fitted.transform(odd), up.transform(np.ceil(odd)))
    with pytest.warns(DilnWarning, match="rounded up"):
        assert fitted.perplexity(odd) == up.perplexity(np.ceil(odd))


BODIES = ["fox and dog", "dog", "fox"]


@pytest.mark.parametrize(
    "texts",
    [
        BODIES,
        "fox and dog",
        np.array([["fox", "dog"]]),
        np.array(BODIES),
        pd.DataFrame({"Body": BODIES}).Body,
        pd.Series([None, *BODIES], dtype=object),
        pd.Series([*BODIES, np.nan], dtype=object),
        pd.Series(BODIES, dtype="string"),
        pd.Series(BODIES, dtype="category"),
        pl.Series(BODIES),
        (None, *BODIES),
    ],
    ids=repr,
)
def test_texts_are_refused_with_what_counts_them(texts):
    model = LDA(2, max_iter=2, random_state=0)
    with pytest.raises(ValueError, match=r"^LDA was given text; count it first: corpus = Corpus.from_texts\(texts\), "):
        model.fit(texts)
    with pytest.raises(ValueError, match=r"then model.fit\(corpus\)$"):
        model.partial_fit(texts)
    model.fit(Corpus.from_texts(["fox dog fox", "dog fox"], stop_words=None))
    with pytest.raises(
        ValueError, match=r"Corpus.from_texts\(texts, vocabulary=model.vocabulary_\), then give the corp"
    ):
        model.transform(texts)
    told = Corpus.from_texts(["fox and dog"], vocabulary=model.vocabulary_)
    assert model.transform(told).sum() == pytest.approx(1)


@pytest.mark.parametrize("model", MODELS)
def test_counts_of_another_vocabulary_are_refused(model):
    fitted = small(model).fit(COUNTS)
    with pytest.raises(ValueError, match=r"expecting 12 features as input.*vocabulary=model.vocabulary_"):
        fitted.transform(COUNTS[:, :5])
    with pytest.raises(ValueError, match="expecting 12 features"):
        fitted.partial_fit(COUNTS[:, :5])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("engine", ["tcp://10.0.0.1:8786", "client"])
def test_a_client_of_dask_is_no_engine(model, engine):
    from distributed import Client

    if engine == "client":
        engine = Client.__new__(Client)  # connected to nothing
    said = pytest.raises(
        TypeError, match=r"^engine is a (Client|str); give Dask\(client\), of 'from diln import Dask'$"
    )
    with said:
        model(3, engine=engine).fit(COUNTS)
    fitted = small(model).fit(COUNTS).set_params(engine=engine)
    with said:
        fitted.transform(COUNTS)
    with said:
        fitted.fit(COUNTS)


def test_what_is_no_engine_is_told_so(tmp_path):
    with pytest.raises(TypeError, match=r"^engine is a int; give an engine, such as Dask\(client\)$"):
        LDA(3, engine=4).fit(COUNTS)
    with pytest.raises(TypeError, match=r"^engine is a int; "):
        load(tmp_path / "nothing", engine=4)
    with pytest.raises(TypeError, match=r"^engine is a int; "):
        build(tmp_path / "nothing", tmp_path / "corpus", engine=4)


@pytest.mark.parametrize("model", MODELS)
def test_an_empty_corpus_is_refused(model):
    with pytest.raises(ValueError, match="at least one of each"):
        small(model).fit(Corpus.from_matrix(COUNTS, [f"w{i}" for i in range(12)])[:0])


@pytest.mark.parametrize("model", MODELS)
@each_way
def test_one_topic_is_enough(model, inference):
    fitted = small(model, inference, n_components=1, topic_word_prior=0.1).fit(COUNTS)
    np.testing.assert_allclose(fitted.transform(COUNTS), np.ones((30, 1)), rtol=1e-15)
    assert fitted.n_topics_ == 1
    shares = (COUNTS.sum(axis=0) + 0.1) / (COUNTS.sum() + 1.2)
    np.testing.assert_allclose(fitted.topic_word_[0], shares, rtol=1e-5)
    assert fitted.perplexity(COUNTS) < 12.5


@pytest.mark.parametrize("model", MODELS)
@each_way
def test_more_topics_than_documents_work(model, inference):
    fitted = small(model, inference, n_components=50).fit(COUNTS[:6])
    assert fitted.transform(COUNTS).shape == (30, 50)
    assert np.isfinite(fitted.perplexity(COUNTS))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "counts",
    [
        np.eye(12, dtype=int)[np.arange(30) % 12],
        np.vstack([COUNTS, np.zeros((3, 12), int)]),
        COUNTS[:1],
        COUNTS[:, :1] + 1,
        COUNTS * 500,
    ],
    ids=["one-word-documents", "empty-documents", "one-document", "one-term", "huge-counts"],
)
@each_way
def test_odd_documents_work(model, inference, counts):
    fitted = small(model, inference).fit(counts)
    assert np.isfinite(fitted.topic_word_).all()
    assert np.isfinite(fitted.history_[-1]["score" if inference == "sampling" else "bound"])
    np.testing.assert_allclose(fitted.topic_word_.sum(axis=1), 1)
    full = counts[counts.sum(axis=1) > 0]
    np.testing.assert_allclose(fitted.transform(full).sum(axis=1), 1)
    assert 1 <= fitted.perplexity(counts) < 1e3
    small(model, inference, learning_method="online", batch_size=7).fit(counts)


def test_diln_without_dimensions_is_refused_with_a_hint():
    with pytest.raises(ValueError, match="HDP is DILN without any"):
        DILN(n_dims=0).fit(COUNTS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", 0), ("n_components", 2.5), ("n_components", "many"), ("n_components", True),
        ("topic_word_prior", 0), ("topic_word_prior", -1.0), ("topic_word_prior", np.nan), ("inference", "magic"),
        ("learning_method", "stream"), ("learning_decay", 0.49), ("learning_decay", 1.5), ("learning_offset", 0),
        ("max_iter", 0), ("tol", -1), ("batch_size", 0), ("total_samples", 0), ("mean_change_tol", -1e-3),
        ("max_doc_update_iter", 0), ("init", "k-means"), ("init", "kmeans"), ("init", 3), ("n_jobs", 0),
        ("random_state", -1), ("random_state", "dice"), ("n_dims", -1), ("location_variance", 0), ("alpha_prior", 1.0),
        ("alpha_prior", (1.0, 0.0)), ("alpha_prior", (1, 2, 3)), ("n_components", 65_521), ("max_time", 0),
        ("n_states", 0), ("keep_states", -1), ("n_chains", 0),
        ("warm_up", -1), ("omega", "none"), ("weight_rate", 0), ("topic_word_prior", "learned"),
        ("location_variance", "learned"), ("n_components", 10**9), ("n_components", 10**400), ("n_dims", 1001),
        ("n_dims", 31), ("max_iter", 10**12), ("batch_size", 10**12), ("n_chains", 10**6), ("n_states", 10**12),
        ("keep_states", 10**9), ("warm_up", 10**12), ("max_doc_update_iter", 10**12), ("random_state", 2**128),
        ("random_state", 10**400), ("tol", np.nan), ("tol", np.inf), ("tol", 10**400), ("topic_word_prior", 1e300),
        ("topic_word_prior", 1e-300), ("location_variance", 1e10), ("total_samples", 1e300), ("total_samples", 1e-300),
        ("alpha_prior", (1e30, 1.0)), ("weight_rate", 1e-300), ("max_time", np.nan), ("learning_offset", 1e300),
        ("n_components", np.arange(3)), ("topic_word_prior", [1.0]), ("omega", []),
        ("max_iter", "3"), ("tol", "1"), ("n_jobs", "2"), ("n_jobs", 1.5),
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        small(DILN, **{name: value}).fit(COUNTS)


@pytest.mark.parametrize("inference", ["sampling", "variational"])
@pytest.mark.parametrize(
    ("model", "given"),
    [
        (CTM, {"n_components": 65_520}), (DILN, {"n_components": 65_520, "n_dims": 1000}),
        (LDA, {"n_components": 10**6}),
    ],
)  # fmt: skip
def test_a_model_that_no_machine_holds_is_refused_before_memory_is_taken(model, inference, given, monkeypatch):
    monkeypatch.setattr("diln.models.size.total", lambda: 16e9)
    learning = {"learning_method": "online"} if model is DILN else {}
    for door in ("fit", "partial_fit"):
        with pytest.raises(
            ValueError, match=r"n_components (of 65,520 .* GB of memory, and there is 16 GB|is 1,000,000)"
        ):
            getattr(small(model, inference, **given, **learning), door)(np.tile(COUNTS, (40, 1)))


def test_an_inference_that_is_none_is_refused():
    with pytest.raises(ValueError, match="inference is \\['sampling'\\]; give 'sampling', 'variational'"):
        LDA(inference=["sampling"]).fit(COUNTS)


def test_the_largest_variance_gives_lifts_that_are_numbers():
    fitted = small(DILN, "variational", location_variance=1000, max_iter=6).fit(COUNTS)
    assert np.isfinite(fitted.topic_lift_).all()


@pytest.mark.parametrize(
    ("name", "value"), [("mean_change_tol", 1), ("tol", np.float32(0.5)), ("max_iter", np.int8(3))]
)
def test_numbers_are_used_in_one_type(name, value):
    given = small(DILN, **{name: value})._parameters().values[name]
    assert type(given) is (int if name == "max_iter" else float)


@each_way
def test_a_covariance_has_an_inverse_from_the_least_prior_on(inference):
    with pytest.raises(ValueError, match=r"covariance_prior is 1e-15; give a number from 0\.001 to 1e\+09"):
        small(CTM, inference, covariance_prior=1e-15).fit(COUNTS)
    for counts, size in ((COUNTS, 1), (COUNTS, 5), (COUNTS[:2], 30)):
        fitted = small(CTM, inference, n_components=size, covariance_prior=1e-3, max_iter=30).fit(counts)
        assert np.isfinite(fitted.perplexity(COUNTS))
        assert np.isfinite(fitted.topic_correlation_).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [("topic_word_prior", "auto"), ("location_variance", "auto"), ("learning_method", "grow"), ("init", "draws")],
)
def test_what_sampling_alone_can_do_is_refused_by_variational_inference(name, value):
    with pytest.raises(ValueError, match=name):
        small(DILN, "variational", **{name: value}).fit(COUNTS)


@pytest.mark.parametrize("value", ["automatic", 0.0, -1])
def test_lda_says_what_its_document_prior_can_be(value):
    with pytest.raises(ValueError, match="doc_topic_prior"):
        small(LDA, doc_topic_prior=value).fit(COUNTS)


@each_way
def test_perplexity_says_what_it_needs(inference):
    fitted = small(HDP, inference).fit(COUNTS)
    with pytest.raises(ValueError, match="no token to predict"):
        fitted.perplexity(np.zeros((2, 12), int))
    with pytest.raises(ValueError, match="'plug-in' or 'draws'"):
        fitted.perplexity(COUNTS, method="both")
    with pytest.raises(ValueError, match="give both alike"):
        fitted.perplexity(COUNTS, COUNTS[:3])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("prior", [1e-4, 0.01, 5.0])
@each_way
def test_short_documents_many_topics_and_any_prior_give_numbers(model, inference, prior):
    counts = np.random.default_rng(0).poisson(0.05, (200, 150))
    counts[0] = np.arange(150) == 3
    fitted = small(model, inference, n_components=400, topic_word_prior=prior).fit(counts)
    assert np.isfinite(fitted.topic_word_).all()
    assert np.isfinite(fitted.history_[-1]["score" if inference == "sampling" else "bound"])
    one_word = np.eye(150, dtype=int)
    np.testing.assert_allclose(fitted.transform(one_word).sum(axis=1), 1)
    assert np.isfinite(fitted.perplexity(one_word))


@pytest.mark.parametrize("model", MODELS)
def test_a_frame_with_two_columns_of_one_name_is_refused_in_one_sentence(model):
    names = [f"term {k}" for k in range(COUNTS.shape[1])]
    plain, twice = (pd.DataFrame(COUNTS, columns=columns) for columns in (names, [*names[:-1], names[0]]))
    fitted = small(model, "variational").fit(plain)
    for call in (small(model).fit, small(model).partial_fit, fitted.transform, fitted.perplexity, fitted.score):
        with pytest.raises(ValueError, match=r"^X has 2 columns 'term 0', and each term is one column; rename") as told:
            call(twice)
        assert "\n" not in str(told.value)
    assert small(model).fit(twice.T.groupby(level=0).sum().T).n_features_in_ == len(names) - 1


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_of_texts_is_told_how_to_count_its_column(library):
    frame = pytest.importorskip(library).DataFrame(
        {"Site": ["nyt", "bbc"], "Body": ["court judge ruling", "goal team"]}
    )
    wanted = r"^LDA was given text; count it first: corpus = Corpus.from_frame\(frame, text='Body'\), then model.fit"
    with pytest.raises(ValueError, match=wanted):
        LDA(2).fit(frame)
    Corpus.from_frame(frame, text="Body")
