"""Files whose checksums are right and whose content is not: one sentence, and nothing of them is used."""

import json
import math
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from make import HERE, resumed

import diln
from diln.errors import StoreError
from diln.models.files import MODEL
from mending import edit_bytes, edit_content, edit_manifest, edit_tensors, edit_terms, file_of

NOW = HERE / f"schema{MODEL.schema}"
AGAIN = "fit it again with: diln fit SOURCE -o DIR, or restore it from a copy"


@pytest.fixture
def stored(tmp_path):
    """Copies what is stored, to be changed."""

    def copied(name: str, kind: str = "models") -> Path:
        return shutil.copytree(NOW / kind / name, tmp_path / name)

    return copied


def sentence(directory: Path, act) -> str:
    """What is said of a directory, in one line."""
    with pytest.raises(StoreError) as caught:
        act(directory)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 200 + 2 * len(str(directory))
    assert message.startswith(f"{directory}")
    return message


def put(name, value):
    """Writes a number over a tensor's first."""

    def change(tensors):
        tensors[name].reshape(-1)[0] = value

    return change


def given(name, make):
    """Puts another array in a tensor's place."""

    def change(tensors):
        tensors[name] = make(tensors[name])

    return change


WRONG_TENSORS = {
    "NaN in a0": ("diln-sampling", put("a0", math.nan), "numbers in tensor 'a0'"),
    "no weight": ("diln-sampling", put("a0", 0), "numbers in tensor 'a0' that are not above 1e-30"),
    "too much weight": ("diln-more", put("a0", 1e9), "numbers in tensor 'a0' that are not from 0 to 1e+07"),
    "a negative total": ("diln-sampling", put("totals", -1), "numbers in tensor 'totals'"),
    "infinite totals": ("lda-sampling", put("totals", math.inf), "numbers in tensor 'totals'"),
    "another total": ("hdp-sampling", put("totals", 1e6), "tensor 'totals' that is not the sum over terms"),
    "NaN in ells": ("diln-sampling", put("ells", math.nan), "numbers in tensor 'ells'"),
    "NaN in table": ("ctm-sampling", put("table", math.nan), "numbers in tensor 'table'"),
    "a negative count": ("lda-variational", put("statistics", -1), "numbers in tensor 'statistics'"),
    "NaN of a kept state": ("diln-states", put("table.1", math.nan), "numbers in tensor 'table.1'"),
    "a topic too many": (
        "diln-sampling",
        given("a0", lambda a0: np.append(a0, 1.0)),
        "'a0' of shape (17,) in place of (16,)",
    ),
    "a term too few": ("diln-sampling", given("table", lambda table: table[:-1]), "'table' of shape (22, 16)"),
    "beyond the topics": (
        "diln-sampling",
        given("a0", lambda a0: a0 + 1),
        "numbers in tensor 'a0' beyond its 3 topics",
    ),
    "another type": (
        "diln-variational",
        given("locations", lambda ells: ells.astype(np.float32)),
        "of type float32 in place of float64",
    ),
    "a type that is not stored": ("lda-variational", given("a0", lambda a0: a0.astype(np.float16)), "of type float16"),
    "no token": ("diln-variational", given("statistics", lambda one: one * 0), "topics without a token"),
    "no tensor": ("diln-sampling", lambda tensors: tensors.pop("softs"), "lacks tensor 'softs'"),
    "no tensor of weights": ("diln-sampling", lambda tensors: tensors.pop("a0"), "lacks tensor 'a0'"),
    "no covariance": ("ctm-sampling", put("covariance", -1), "tensor 'covariance' that is no covariance"),
    "a lopsided covariance": (
        "ctm-variational",
        given("covariance", lambda one: one + np.tri(3, k=-1)),
        "tensor 'covariance' that is not symmetric",
    ),
    "moments of nothing": ("ctm-sampling", put("moments", -1), "tensor 'moments' that is no covariance"),
    "no sum of squares": (
        "diln-sampling",
        given("precision", lambda one: -1e6 - one),
        "tensor 'precision' that is no sum of squares",
    ),
    "one direction": (
        "diln-sampling",
        given("precision", lambda one: one * 0 + 1e30),
        "tensor 'precision' that is no sum of squares",
    ),
    "squares below 0": ("diln-sampling", put("products", -1), "tensor 'products' with squares below 0"),
    "too many chains": ("diln-chains", put("agreement.together", 3), "more than 2 chains in tensor"),
    "some of what chains tell": (
        "diln-chains",
        lambda tensors: tensors.pop("agreement.between"),
        "only some of the tensors",
    ),
}


@pytest.mark.parametrize(("name", "change", "said"), WRONG_TENSORS.values(), ids=WRONG_TENSORS)
def test_tensors_that_are_not_those_of_the_model_are_named(name, change, said, stored):
    directory = stored(name)
    edit_tensors(directory, change)
    message = sentence(directory, diln.load)
    assert message.startswith(f"{file_of(directory, 'tensors.safetensors')}: the file ")
    assert said in message
    assert message.endswith(f"the model is damaged: {AGAIN}")


def setting(*path_and_value):
    """Sets what is at a path of the content."""
    *path, last, value = path_and_value

    def change(content):
        for part in path:
            content = content[part]
        content[last] = value

    return change


def without(*path):
    """Removes what is at a path of the content."""
    *inner, last = path

    def change(content):
        for part in inner:
            content = content[part]
        del content[last]

    return change


WRONG_CONTENT = {
    "no class": (without("class"), "lacks class"),
    "no state": (without("state"), "lacks state"),
    "a number in place of a record": (setting("state", 7), "has state 7 in place of an object"),
    "text in place of a number": (setting("state", "population", "x"), "has state.population 'x' in place of a number"),
    "a number of topics beyond all": (setting("sampled", "state", "n_topics", 10**9), "n_topics 1000000000 in place"),
    "no topics": (setting("sampled", "state", "n_topics", 0), "has sampled.state.n_topics 0 in place of"),
    "a seed below 0": (setting("state", "seed", -1), "has state.seed -1"),
    "a huge number": (setting("state", "seen", 10**40), "has state.seen 1000"),
    "NaN": (setting("prior", {"nonfinite": "nan"}), "has prior nan in place of a number above 1e-30"),
    "another method": (setting("state", "method", "magic"), 'in place of "batch" or "grow" or "online"'),
    "no list": (setting("history", {}), "has history dict in place of a list of objects"),
    "a wrong entry": (setting("history", 0, "seconds", None), "has history.0.seconds None in place of a number"),
    "an entry of another kind": (setting("history", [3]), "has 3 in place of history.0"),
    "no topics asked for": (setting("parameters", "n_components", 0), "parameters whose n_components is 0"),
    "updates without end": (
        setting("parameters", "max_doc_update_iter", 10**30),
        "whose max_doc_update_iter is far too large",
    ),
    "a number of many digits": (setting("parameters", "topic_word_prior", 10**400), "whose topic_word_prior is 1000"),
    "a long text": (setting("parameters", "learning_method", "x" * 10**5), "whose learning_method is 'xxx"),
    "a file of stop words": (setting("rule", "stop_words", "/etc/passwd"), "has rule.stop_words '/etc/passwd'"),
    "no expression": (setting("rule", "token_pattern", "("), "has a rule whose token_pattern '(' is not a regular"),
    "fewer in the prior": (
        setting("sampled", "state", "truncation", 1),
        "has sampled with other numbers of topics than go together",
    ),
    "a kept state that is nowhere": (setting("sampled", "states", [{}]), "lacks sampled.states.0"),
}


@pytest.mark.parametrize(("change", "said"), WRONG_CONTENT.values(), ids=WRONG_CONTENT)
def test_content_that_is_not_that_of_a_model_is_named(change, said, stored):
    directory = stored("diln-sampling")
    edit_content(directory, change)
    message = sentence(directory, diln.load)
    assert message.startswith(f"{directory / 'manifest.json'}: the file ")
    assert said in message
    assert message.endswith(f"the model is damaged: {AGAIN}")


UNKNOWN = {
    "a field": (setting("zodiac", 1), "a field 'zodiac'"),
    "a field of a record": (setting("state", "zodiac", 1), "a field 'state.zodiac'"),
    "a field of numbers": (setting("sampled", "state", "zodiac", 1), "a field 'sampled.state.zodiac'"),
    "a parameter": (setting("parameters", "zodiac", 1), "a parameter 'zodiac'"),
    "an inference": (setting("parameters", "inference", "guessing"), "the inference 'guessing'"),
    "a class": (setting("class", "BERT"), "the class 'BERT'"),
}


@pytest.mark.parametrize(("change", "said"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_a_later_version_has_added_is_refused_with_the_version_to_install(change, said, stored):
    directory = stored("diln-sampling")
    edit_content(directory, change)
    edit_manifest(directory, setting("versions", "diln", "99.1"))
    message = sentence(directory, diln.load)
    assert f"the model has {said}, which diln {diln.__version__} does not know" in message
    assert message.endswith("it was written by diln 99.1: install diln 99.1 or later")


def test_what_this_version_never_writes_is_damage(stored):
    directory = stored("diln-sampling")
    edit_content(directory, setting("zodiac", 1))
    assert "has a field 'zodiac', which this version of diln never writes; the model is" in sentence(
        directory, diln.load
    )


def test_a_tensor_and_a_file_of_a_later_version_are_refused_likewise(stored):
    directory = stored("diln-sampling")
    edit_manifest(directory, setting("versions", "diln", "99.1"))
    edit_tensors(directory, lambda tensors: tensors.update(zodiac=np.ones(2)))
    assert "the model has a tensor 'zodiac'" in sentence(directory, diln.load)
    edit_manifest(directory, setting("files", "zodiac.json", {"file": "g0001-zodiac.json", "bytes": 1, "sha256": ""}))
    assert "g0001-zodiac.json" in sentence(directory, diln.load)


def test_numbers_of_documents_and_shares_of_them_stay_what_they_were(stored):
    for value in (2, 0.25):
        directory = stored("diln-sampling")
        edit_content(directory, setting("rule", "min_df", value))
        found = diln.load(directory).fitted_.rule["min_df"]
        assert (found, type(found)) == (value, type(value))
        shutil.rmtree(directory)


def test_parameters_that_are_checked_where_they_are_used_come_back(tmp_path):
    counts = np.random.default_rng(0).poisson(1.0, (9, 7))
    for told in ({"verbose": True}, {"verbose": 0, "n_jobs": -1}, {"random_state": np.random.RandomState(0)}):
        told = {"random_state": np.int64(3), "max_iter": 2, **told}
        diln.LDA(2, **told).fit(counts).save(tmp_path / "model")
        again = diln.load(tmp_path / "model")
        assert (again.verbose, again.n_jobs) == (told.get("verbose", 0), told.get("n_jobs"))


def test_what_a_file_lacks_has_its_default(stored):
    directory = stored("diln-sampling")
    before = diln.load(directory)
    for path in (("named",), ("rule",), ("parameters", "tol"), ("parameters", "n_chains"), ("history", 0, "beta")):
        edit_content(directory, without(*path))
    edit_manifest(directory, without("versions", "numpy"))
    after = diln.load(directory)
    assert after.get_params() == before.get_params()
    assert after.history_[0]["beta"] is None
    np.testing.assert_array_equal(after.topic_word_, before.topic_word_)


@pytest.mark.parametrize("terms", [{}, None, "abc", [1, 2], ["a"] * 23, [["a"]] * 23, [], ["a", "b"]], ids=str)
def test_terms_that_are_no_vocabulary_are_named(terms, stored):
    directory = stored("hdp-sampling")
    edit_terms(directory, terms)
    assert "is not a list of different terms" in (message := sentence(directory, diln.load)) or "of shape" in message


def safetensors(header) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text


WRONG_BYTES = {
    "nothing": b"",
    "no header": b"abc",
    "a header without end": struct.pack("<Q", 2**63) + b"{}",
    "no JSON": safetensors(b"{"),
    "a list": safetensors([]),
    "a huge shape": safetensors({"a0": {"dtype": "F64", "shape": [2**40, 2**40], "data_offsets": [0, 8]}}) + bytes(8),
    "a large shape": safetensors({"a0": {"dtype": "F64", "shape": [2**40], "data_offsets": [0, 2**43]}}) + bytes(8),
    "another type": safetensors({"a0": {"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}}) + bytes(8),
    "no type": safetensors({"a0": {"dtype": "X1", "shape": [4], "data_offsets": [0, 8]}}) + bytes(8),
    "depth": safetensors(b"[" * 100_000),
}


@pytest.mark.parametrize("data", WRONG_BYTES.values(), ids=WRONG_BYTES)
def test_tensors_that_are_none_are_named(data, stored):
    directory = stored("diln-sampling")
    path = file_of(directory, "tensors.safetensors")
    edit_bytes(directory, path, lambda _: data)
    assert f"{path}: the file " in sentence(directory, diln.load)


@pytest.mark.parametrize("data", [b"[" * 100_000, b"\xff", b"", b'["a",', b"[" + b"9" * 5000 + b"]"], ids=range(5))
def test_terms_that_are_no_json_are_named(data, stored):
    directory = stored("diln-sampling")
    path = file_of(directory, "terms.json")
    edit_bytes(directory, path, lambda _: data)
    assert f"{path}: the file is not the JSON that was written" in sentence(directory, diln.load)


def take_up(name):
    kind, told = json.loads((NOW / "fits.json").read_text(encoding="utf-8"))[name]
    corpus = diln.Corpus.open(NOW / "corpora" / "text")
    return lambda directory: resumed(directory, kind, told, corpus)


WRONG_CHECKPOINTS = {
    "a topic beyond all": ("diln-open", put("topics", 3), "topics of tokens that there are none of"),
    "another topic": ("diln-open", given("topics", lambda topics: topics * 0), "'table' that is not the counts"),
    "a token too few": ("lda-open", given("topics", lambda topics: topics[:-1]), "'topics' of shape"),
    "wide topics": ("hdp-open", given("topics", lambda topics: topics.astype(np.int64)), "of type int64"),
    "another count": ("hdp-open", given("table", lambda table: table + 1), "numbers in tensor 'table' beyond"),
    "a document too few": ("diln-open", given("u", lambda u: u[:-1]), "'u' of shape (11, 2) in place of (12, 2)"),
    "a dimension too few": ("diln-open", given("ells", lambda ells: ells[:1]), "'ells' of shape (1, 16)"),
    "NaN in log weights": ("ctm-open", put("eta", math.nan), "numbers in tensor 'eta'"),
    "NaN in an average": ("diln-open", put("average.a0", math.nan), "numbers in tensor 'average.a0'"),
    "an average of nothing": (
        "lda-open",
        given("average.table", np.zeros_like),
        "has states without a token in average.table",
    ),
    "no average": ("diln-open", lambda tensors: tensors.pop("average.a0"), "lacks tensor 'average.a0'"),
    "no places": ("diln-closed", lambda tensors: tensors.pop("s"), "lacks tensor 's'"),
    "NaN of online learning": ("ctm-online", put("moments", math.nan), "numbers in tensor 'moments'"),
}


@pytest.mark.parametrize(("name", "change", "said"), WRONG_CHECKPOINTS.values(), ids=WRONG_CHECKPOINTS)
def test_tensors_that_are_not_those_of_the_fit_are_named(name, change, said, stored):
    directory = stored(name, "checkpoints")
    edit_tensors(directory, change)
    message = sentence(directory, take_up(name))
    assert said in message
    assert message.endswith("the checkpoint is damaged: begin anew with --force in place of --resume")


WRONG_RUNS = {
    "more documents": (setting("chain", "run", "size", 13), "says of the chain what cannot be"),
    "averages of no state": (setting("chain", "run", "n_states", 0), "has a tensor 'average.a0', which such a model"),
    "sweeps beyond all": (setting("chain", "run", "number", 10**20), "has chain.run.number"),
    "other means": (setting("chain", "run", "means", {}), "has chain.run.means that are not those of its states"),
    "another state": (
        setting("chain", "run", "state", "n_topics", 4),
        "has chain.run with other numbers of topics",
    ),
    "scores that are none": (setting("chain", "run", "scores", ["x"]), "has chain.run.scores"),
    "no phase": (setting("phase", "online"), "lacks online"),
    "a phase that there is not": (setting("phase", []), "has phase list in place of"),
    "no inference": (setting("fingerprint", "inference", [1]), "has the inference list"),
    "no fingerprint": (setting("fingerprint", []), "has fingerprint list in place of an object"),
    "a wrong entry": (setting("chain", "history", 0, 7), "has 7 in place of chain.history.0"),
}


@pytest.mark.parametrize(("change", "said"), WRONG_RUNS.values(), ids=WRONG_RUNS)
def test_content_that_is_not_that_of_the_fit_is_named(change, said, stored):
    directory = stored("diln-open", "checkpoints")
    edit_content(directory, change)
    message = sentence(directory, take_up("diln-open"))
    assert said in message
    assert message.endswith("the checkpoint is damaged: begin anew with --force in place of --resume")


def test_a_checkpoint_with_a_parameter_of_a_later_version_is_refused(stored):
    directory = stored("diln-open", "checkpoints")
    edit_content(directory, setting("fingerprint", "zodiac", 1))
    edit_manifest(directory, setting("versions", "diln", "99.1"))
    assert "the checkpoint has a parameter 'zodiac'" in sentence(directory, take_up("diln-open"))


def test_a_corpus_of_another_form_is_refused(stored):
    changes = {
        "lacks documents": without("documents"),
        "has terms 'x' in place of": setting("terms", "x"),
        "has tally.letters -1": setting("tally", "letters", -1),
        "has documents 11, and its shards have others": setting("documents", 11),
        "has a field 'zodiac'": setting("zodiac", 1),
        "has a file 'zodiac.npy'": setting("shards", 0, "files", "zodiac.npy", {}),
        "lacks shards.1.files.terms.npy": without("shards", 1, "files", "terms.npy"),
        "lacks shards.0.files.date.offsets.npy": without("shards", 0, "files", "date.offsets.npy"),
        "has shards.0.files.date.npy.shape": setting("shards", 0, "files", "date.npy", "shape", 3),
        "has rule.stop_words '/etc/passwd'": setting("rule", "stop_words", "/etc/passwd"),
    }
    for said, change in changes.items():
        directory = stored("text", "corpora")
        edit_manifest(directory, change)
        assert said in sentence(directory, diln.Corpus.open)
        shutil.rmtree(directory)
