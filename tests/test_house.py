"""The layout keeps its promises: imports go one way, and every module is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import diln

ROOT = Path(diln.__file__).parent
ROOMS = (
    "addresses errors fields files engine prob corpus datasets simulate inference models analysis study show cli"
).split()
ENTRANCES = {"diln", "diln.__main__"}


def modules() -> dict[str, Path]:
    names = {}
    for path in ROOT.rglob("*.py"):
        parts = ("diln", *path.relative_to(ROOT).with_suffix("").parts)
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imports(path: Path) -> set[str]:
    """Every diln module or name that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in found if name.split(".")[0] == "diln"}


def room(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else None


@pytest.mark.parametrize("module", sorted(set(modules()) - ENTRANCES))
def test_imports_go_one_way(module):
    here = room(module)
    assert here is not None, f"{module} is in no room that the house knows"
    for other in imports(modules()[module]):
        there = room(other)
        if there is not None:
            assert ROOMS.index(there) <= ROOMS.index(here), f"{module} imports {other}"


def test_no_module_is_an_orphan():
    every = modules()
    used = set().union(*(imports(path) for path in every.values()))
    used |= {name.rpartition(".")[0] for name in used}
    assert set(every) - used - ENTRANCES == set()


def test_no_two_test_files_have_one_name():
    names = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert sorted(names) == sorted(set(names)), "pytest cannot tell files of one name apart"


def test_importing_diln_is_quick_and_loads_nothing_heavy():
    code = "import sys, diln; print(sorted({'numpy', 'scipy', 'numba', 'sklearn', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["analysis", "corpus", "datasets", "simulate"])
def test_a_room_that_users_enter_is_there_without_an_import_of_its_own(name):
    code = f"import diln; before = '{name}' in vars(diln); print(before, diln.{name}.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", f"diln.{name}"]


def test_public_names_are_there():
    for name in diln.__all__:
        assert getattr(diln, name) is not None
    assert set(dir(diln)) == set(diln.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = diln.nothing


def test_no_host_of_a_registry_is_named_in_the_constraints():
    lines = (ROOT.parents[1] / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(line.startswith("#") or ("==" in line and "/" not in line) for line in lines)


def test_importing_a_model_loads_no_package_that_scikit_learn_does_not():
    """numba, above all: it is imported when the first loop is called."""
    code = """if True:
        import sys
        import scipy.linalg, scipy.sparse, scipy.special, sklearn.base
        before = set(sys.modules)
        from diln import CTM, DILN, HDP, LDA
        new = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
        print(sorted(new), "scipy.stats" in set(sys.modules) - before)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['diln', 'safetensors'] False"
