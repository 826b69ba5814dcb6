"""The API keeps to its own description: requests made from the schema, sound and spoilt, get no fault of the server."""

import shutil
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from shop import client

from diln.analysis import Atlas
from diln.show.explorer.desk import Desk
from diln.show.explorer.start import start_search

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

EXAMPLES = 8  # requests to each address
OPEN_ENDED = "/api/training/events"  # a stream, which has tests of its own


@pytest.fixture(scope="module")
def schema(shop, tmp_path_factory):
    """Of a server whose model may be changed."""
    model = shutil.copytree(shop / "model0", tmp_path_factory.mktemp("schema") / "model")
    desk = Desk(Atlas.open(model, shop / "corpus"), other=Atlas.open(shop / "model1"))
    start_search(desk)
    desk.search.wait(60)
    app = client(desk, hosts=frozenset({"localhost", "testserver"})).app
    return schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
def test_no_request_is_a_fault_of_the_server(schema, mode):
    for operation in schema.get_all_operations():
        made = operation.ok()
        if made.path != OPEN_ENDED:
            with suppress(Unsatisfiable):  # what has no parameters cannot be asked for in a wrong way
                requests_of(made, mode)()


def requests_of(operation, mode):
    """A test of one address with some requests, sound or spoilt."""

    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(operation.as_strategy(generation_mode=mode))
    def asked(case):
        answer = case.call()
        assert answer.status_code < 500, (case.as_curl_command(), answer.text)
        if answer.status_code >= 400:
            found = answer.json()
            assert list(found) == ["error"]
            assert "\n" not in found["error"]

    return asked


def test_every_address_is_described(schema):
    raw = schema.raw_schema
    for path, methods in raw["paths"].items():
        for method, what in methods.items():
            assert what["summary"], path
            assert "422" in what["responses"], path
            assert what["responses"]["422"]["content"]["application/json"]["schema"]["$ref"].endswith("/Error"), path
            assert method in ("get", "post")
