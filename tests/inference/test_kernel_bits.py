"""The same input gives the same bits, whatever the process did before and wherever arrays lie in memory."""

import importlib
import pkgutil
import re

import numpy as np
import pytest

import diln.inference
import diln.prob
from diln.engine.compile import Loop, kernel
from diln.study.measure import compiled

LOCAL = {"internal", "private"}
SUM = re.compile(r"= phi [a-z ]*<\d+ x (float|double)>")


def kernels():
    """Every kernel of the package, by name."""
    rooms = (diln.inference, diln.prob)
    names = [found.name for room in rooms for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")]
    values = [value for name in names for value in vars(importlib.import_module(name)).values()]
    return {f"{one.__module__}.{one.__name__}": one for one in values if isinstance(one, Loop)}


def code_of(loop):
    """For each version of a kernel, the functions in its compiled code, and which of them are its own.

    numba shows no code of a kernel that it found compiled, except to kernels that call it.
    """
    for version in loop.overloads.values():
        about = version.fndesc
        own = {about.mangled_name, about.llvm_cpython_wrapper_name, about.llvm_cfunc_wrapper_name}
        module = version.library._get_module_for_linking()
        yield [function for function in module.functions if not function.is_declaration], own


def shared(loop):
    """Functions in a kernel's code, beside itself, that one of the same name elsewhere could stand in for."""
    for functions, own in code_of(loop):
        for function in functions:
            if function.linkage.name not in LOCAL and function.name not in own and not function.name.startswith("NRT_"):
                yield function.name


def sums_with_stores(loop):
    """Vectorised loops of a kernel that both add up floating-point numbers and write to memory."""
    for functions, _ in code_of(loop):
        for block in (block for function in functions for block in function.blocks):
            lines = [str(line).strip() for line in block.instructions] if block.name.startswith("vector.body") else []
            if any(map(SUM.search, lines)) and any(line.startswith("store ") for line in lines):
                yield f"{loop.__name__}, {block.name}"


@pytest.fixture(scope="module")
def loaded():
    """Kernels that fits of all models compiled or found compiled."""
    for model in ("DILN", "HDP", "LDA", "CTM"):
        for inference in ("sampling", "variational"):
            compiled(model, inference)
    found = {name: loop for name, loop in kernels().items() if loop.overloads}
    assert {"document_step", "log_weight_steps", "location_step", "visit_documents"} <= {
        name.rpartition(".")[2] for name in found
    }
    return found


def test_what_a_kernel_calls_is_compiled_into_it(loaded):
    assert not {name: found for name, loop in loaded.items() if (found := list(shared(loop)))}


def test_no_kernel_has_sums_and_stores_in_one_loop(loaded):
    assert not [found for loop in loaded.values() for found in sums_with_stores(loop)]


def doubled_total(x, out):
    total = 0.0
    for i in range(x.size):
        total += x[i]
        out[i] = 2.0 * x[i]
    return total


def test_a_loop_of_sums_and_stores_would_be_found():
    loop = kernel(doubled_total)
    assert loop(np.ones(9), np.empty(9)) == 9
    assert list(sums_with_stores(loop))
