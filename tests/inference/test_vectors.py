"""Loops that must run on all lanes of the processor."""

import platform
import re

import llvmlite.binding as llvm
import pytest
from numba import njit, types

from diln.inference.emissions.multinomial import TermShard, TokenSteps, gather_statistics
from diln.inference.variational.document_step import token_step
from diln.prob.gamma import exp_digamma, log_gamma_digamma, log_in_place, sigmoid_softplus


def array(item, n_dims=1):
    return types.Array(item, n_dims, "C")


F, D, W, L = types.float32, types.float64, types.int32, types.int64
WIDE, ANY = r"%[yz]mm", r"%[xyz]mm"
LOOPS = {
    "token step": (token_step, (array(W), array(F), L, L, array(F, 2), array(F), array(F), array(F)), "ps", WIDE),
    "exp digamma, single": (exp_digamma, (array(F), D, array(F), array(W), array(F), L), "ps", WIDE),
    "exp digamma, double": (exp_digamma, (array(D), D, array(D), array(L), array(D), L), "pd", WIDE),
    "exp digamma, double to single": (exp_digamma, (array(D), D, array(F), array(W), array(F), L), "ps", ANY),
    "sigmoid": (sigmoid_softplus, (*(array(D),) * 3, array(L), array(D), L), "pd", WIDE),
    "logarithm": (log_in_place, (array(D), array(L), L), "pd", WIDE),
    "log gamma": (log_gamma_digamma, (*(array(D),) * 3, array(D, 2), array(L, 2), L), "pd", WIDE),
    "gather": (
        gather_statistics,
        (
            types.NamedTuple((array(L), array(W), array(L), array(F, 2), array(F, 2)), TermShard),
            types.NamedTuple((array(F), array(F, 2), D, D), TokenSteps),
        ),
        "ps",
        WIDE,
    ),
}


def has_vectors():
    features = llvm.get_host_cpu_features() if platform.machine().lower() in ("x86_64", "amd64") else {}
    return features.get("avx2", False) and features.get("fma", False)


@pytest.mark.skipif(not has_vectors(), reason="a processor with AVX2 and FMA is needed")
@pytest.mark.parametrize("name", LOOPS)
def test_hot_loops_multiply_and_add_on_all_lanes(name):
    """Compiled anew: numba shows no assembly of what it read from its cache."""
    loop, signature, suffix, register = LOOPS[name]
    options = {key: loop.targetoptions[key] for key in ("nogil", "fastmath", "error_model")}
    fresh = njit(**options)(loop.py_func)
    fresh.compile(signature)
    (assembly,) = fresh.inspect_asm().values()
    assert re.search(rf"\bvfn?m(add|sub)\d+{suffix}\b.*{register}", assembly)
