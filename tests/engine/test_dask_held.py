"""Shards on a real cluster of processes: the results of one process, whatever happens to the workers."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import closing

import numpy as np
import pytest
import toy_shards as toy
from clusters import processes, start_worker, threads, until

from diln.engine.dask import held as held_module
from diln.engine.dask import worker
from diln.engine.dask.engine import Dask
from diln.errors import Lost, SchedulerLost, WorkerError, WorkersLost


@pytest.fixture(scope="module")
def cluster():
    with processes(2) as found:
        yield found


@pytest.fixture
def client(cluster):
    client, workers = cluster
    workers.whole(2)
    return client


@pytest.fixture
def told():
    return []


@pytest.fixture
def engine(client, told):
    with Dask(client, tell=told.append, patience=60) as one:
        yield one


def here(steps, homes):
    """What calls return if all shards are in this process: pairs of a kind of call, and what it is given."""
    shards, out = [home.make() for home in homes], []
    for kind, step, shared in steps:
        if kind == "map":
            out.append([step(shard, shared) for shard in shards])
        elif kind == "total":
            tally = toy.nothing(shared)
            out.append(([step(shard, shared, tally) for shard in shards], tally.counts.tolist()))
        else:
            shards = [step(shard, shared) for shard in shards]
    return out, [shard.values.tolist() for shard in shards]


def there(steps, held):
    out = []
    for kind, step, shared in steps:
        if kind == "map":
            out.append(list(held.map(step, shared)))
        elif kind == "total":
            found, tally = held.total(step, shared, toy.nothing)
            out.append((found, tally.counts.tolist()))
        else:
            held.replace(step, shared)
    return out, list(held.map(values, None))


def values(shard, shared):
    return shard.values.tolist()


def values_of(held):
    return list(held.map(values, None))


STEPS = [
    ("map", toy.grow, toy.given(3)),
    ("total", toy.count, toy.given(0)),
    ("replace", toy.longer, toy.given(77)),
    ("map", toy.by_halves, toy.given(11)),
    ("map", toy.grow, toy.given(5)),
    ("total", toy.count, toy.given(0)),
]


@pytest.mark.parametrize(("n", "threads"), [(1, 1), (2, 1), (7, 1), (7, 3)])
def test_calls_find_what_they_find_in_one_process(engine, n, threads):
    engine.threads = threads
    with engine.hold(toy.homes(n)) as held:
        assert there(STEPS, held) == here(STEPS, toy.homes(n))
        assert len(held.workers) == min(n, 2)


def test_workers_may_be_threads_and_sums_over_many_are_taken_some_at_a_time(monkeypatch):
    monkeypatch.setattr(held_module, "FANNED", 2)
    with threads(5, protocol="inproc://") as client, Dask(client) as engine, engine.hold(toy.homes()) as held:
        assert len(held.workers) == 5
        assert there(STEPS, held) == here(STEPS, toy.homes())


def test_arrays_arrive_as_they_were_and_are_not_sent_again_until_they_change(engine):
    with engine.hold(toy.homes(4)) as held:
        first = toy.given(1)
        assert set(held.map(toy.kind_of, first)) == {(True, True, True, True, float(first.table.sum()))}
        sent = held.broadcast.sent
        assert sent == first.table.nbytes
        list(held.map(toy.kind_of, toy.given(2)))
        assert held.broadcast.sent == sent
        first.table[0] = 9
        assert {one[-1] for one in held.map(toy.kind_of, first)} == {float(first.table.sum())}
        assert held.broadcast.sent == 2 * sent


def test_what_was_written_is_read_back_and_none_is_the_start(engine, tmp_path):
    with engine.hold(toy.homes()) as held:
        list(held.map(toy.grow, toy.given(3)))
        before = values_of(held)
        notes = held.write(tmp_path / "one")
        assert notes == [{"sum": sum(one)} for one in before] and {
            path.name for path in (tmp_path / "one").iterdir()
        } == set(map(str, range(7)))
        held.replace(toy.longer, toy.given(3))
        held.read(tmp_path / "one", notes)
        assert values_of(held) == before
        held.read(None, [])
        assert values_of(held) == [home.make().values.tolist() for home in toy.homes()]


def recovered(held, folder, steps):
    """Make steps from what was written last, again and again until no worker is lost; how often one was."""
    notes, losses = held.write(folder), 0
    while True:
        try:
            return there(steps, held), losses
        except Lost:
            losses += 1
            held.read(folder, notes)


def test_all_but_one_worker_killed_in_a_step_change_no_result(engine, cluster, told, tmp_path):
    cluster[1].whole(3)
    steps = [STEPS[0], ("map", toy.Killing((0, 1), str(tmp_path)), toy.given(7)), *STEPS[1:]]
    plain = [STEPS[0], ("map", toy.grow, toy.given(7)), *STEPS[1:]]
    with engine.hold(toy.homes()) as held:
        found, losses = recovered(held, tmp_path / "kept", steps)
    assert found == here(plain, toy.homes())
    assert 1 <= losses <= 2 and any("was lost" in one or "gone" in one for one in told)


def test_a_loss_before_anything_was_written_goes_back_to_the_start(engine, tmp_path):
    with engine.hold(toy.homes()) as held:
        with pytest.raises(Lost):
            list(held.map(toy.Killing((3,), str(tmp_path)), toy.given(7)))
        held.read(None, [])
        assert there(STEPS, held) == here(STEPS, toy.homes())


def test_a_worker_that_is_lost_while_shards_are_written_leaves_what_was_written_before(engine, client, tmp_path):
    with engine.hold(toy.homes()) as held:
        notes = held.write(tmp_path / "one")
        before = values_of(held)
        list(held.map(toy.grow, toy.given(3)))
        client.run(_die_soon, workers=[held.workers[0]])
        with pytest.raises(Lost):
            while True:
                held.write(tmp_path / "two")
        held.read(tmp_path / "one", notes)
        assert values_of(held) == before


def _die_soon():
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGKILL)).start()


def test_the_error_of_a_step_is_the_callers(engine):
    with engine.hold(toy.homes()) as held:
        with pytest.raises(ValueError, match="this step fails"):
            held.map(toy.failing, None)
        with pytest.raises(Lost):  # shards may be half changed: nothing goes on from them
            held.map(toy.grow, toy.given(1))
        held.read(None, [])
        assert there(STEPS, held) == here(STEPS, toy.homes())


def test_two_fits_share_a_cluster(engine):
    with engine.hold(toy.homes()) as one, engine.hold(toy.homes(5)) as other:
        found = []
        beside = threading.Thread(target=lambda: found.append(there(STEPS, other)))
        beside.start()
        assert there(STEPS, one) == here(STEPS, toy.homes())
        beside.join(120)
        assert found == [here(STEPS, toy.homes(5))]


def test_a_worker_without_the_documents_is_named_with_the_path(engine, tmp_path):
    with pytest.raises(WorkerError, match=r"worker tcp://\S+ on \S+: .*no-such-file"):
        engine.hold(toy.homes(source=str(tmp_path / "no-such-file")))


def test_a_worker_that_does_not_see_the_folder_is_named_with_the_path(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with engine.hold(toy.homes()) as held, pytest.raises(WorkerError, match=r"worker tcp://\S+ on \S+ does not see"):
        held.write(held_module.Path("/proc/self/cwd/kept"))  # which is another folder in each process


def test_a_worker_with_another_version_is_named(engine):
    other = engine.cluster.own.parts | {"numba": "0.1"}
    engine.cluster.own = engine.cluster.own._replace(parts=other)
    with pytest.raises(WorkerError, match=r"worker tcp://\S+ on \S+ has numba \S+ and this process has 0\.1"):
        engine.hold(toy.homes())


def test_another_processor_is_told_and_taken(engine, told):
    engine.cluster.own = engine.cluster.own._replace(processor="abacus")
    with engine.hold(toy.homes()):
        assert any("another processor" in one for one in told)


def kept_there():
    return len(worker._KEPT)


def test_workers_let_go_of_shards_when_a_fit_is_closed_or_its_client_is_gone(engine, client):
    assert not any(client.run(kept_there).values())  # of other tests, among them one whose worker had no documents
    with engine.hold(toy.homes()):
        assert sum(client.run(kept_there).values()) == 2
    assert not any(client.run(kept_there).values())
    code = (
        "import os, toy_shards as toy; from diln.engine.dask.engine import Dask\n"
        f"held = Dask({client.scheduler.address!r}).hold(toy.homes())\n"
        "print(len(held.workers), flush=True)\nos._exit(1)"
    )
    gone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=_environment(), timeout=300)
    assert gone.stdout.strip() == "2", gone.stderr
    until(lambda: not any(client.run(kept_there).values()), "the end of the fit whose client is gone")


def _environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_workers_that_come_later_get_shards_when_these_are_written(engine, cluster, tmp_path):
    with engine.hold(toy.homes()) as held:
        before = here(STEPS, toy.homes())
        assert there(STEPS, held) == before
        cluster[1].whole(3)
        notes = held.write(tmp_path)
        assert len(held.workers) == 3
        assert values_of(held) == before[1]
        cluster[1].processes[-1].kill()
        with pytest.raises(Lost):
            list(held.map(toy.slow, 1.0))
        held.read(tmp_path, notes)
        assert values_of(held) == before[1] and len(held.workers) == 2


def test_a_nanny_that_starts_a_worker_again_changes_no_result(tmp_path, told):
    with threads(1, processes=True) as client, Dask(client, tell=told.append) as engine:
        steps = [STEPS[0], ("map", toy.Killing((3,), str(tmp_path)), toy.given(7)), *STEPS[1:]]
        plain = [STEPS[0], ("map", toy.grow, toy.given(7)), *STEPS[1:]]
        with engine.hold(toy.homes()) as held:
            assert recovered(held, tmp_path / "kept", steps) == (here(plain, toy.homes()), 1)
        assert any(one.startswith("waiting for workers") for one in told)


def test_a_fit_without_workers_says_so_and_ends(told):
    with threads(0) as client, closing(Dask(client, patience=1.0, tell=told.append)) as engine:
        with pytest.raises(WorkersLost, match=r"has had no worker for 1 s; start.*--resume"):
            engine.hold(toy.homes())
        assert told and told[0].startswith("waiting for workers")


def test_a_fit_that_loses_all_workers_waits_and_ends(cluster, client, tmp_path, told):
    with closing(Dask(client, patience=1.5, tell=told.append)) as engine, engine.hold(toy.homes()) as held:
        notes = held.write(tmp_path)
        cluster[1].close()
        with pytest.raises(Lost):
            held.map(toy.grow, toy.given(1))
        with pytest.raises(WorkersLost, match="--resume"):
            held.read(tmp_path, notes)
        assert any(one.startswith("waiting for workers") for one in told)
        assert sorted(np.load(path).sum() for path in tmp_path.iterdir()) == sorted(note["sum"] for note in notes)
        cluster[1].whole(1)
        held.read(tmp_path, notes)
        assert values_of(held) == [home.make().values.tolist() for home in toy.homes()]


def test_a_scheduler_that_is_gone_is_a_named_error(tmp_path, told):
    from distributed import Client

    file = tmp_path / "scheduler.json"
    begin = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    scheduler = subprocess.Popen([*begin, "--no-dashboard", "--scheduler-file", str(file)], stderr=subprocess.DEVNULL)
    begun = [scheduler]
    try:
        until(file.exists, "the scheduler")
        with Client(scheduler_file=str(file), timeout=2, set_as_default=False) as client:
            begun.append(start_worker(client.scheduler.address))
            client.wait_for_workers(1, timeout=120)
            with Dask(client, tell=told.append, patience=10) as engine, engine.hold(toy.homes()) as held:
                scheduler.kill()
                with pytest.raises(SchedulerLost, match=r"tcp://\S+ does not answer any more.*--resume"):
                    while True:
                        held.map(toy.slow, 0.01)
    finally:
        for one in begun:
            one.kill()
            one.wait()


def test_no_scheduler_at_an_address_is_a_sentence(monkeypatch):
    monkeypatch.setattr("diln.engine.dask.connect.CONNECTING", "1 s")
    with pytest.raises(WorkerError, match=r"no scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        Dask("tcp://127.0.0.1:9")


@pytest.mark.parametrize("address", ["local:0", "local:", "local:two", "local:-1"])
def test_local_workers_are_a_number(address):
    with pytest.raises(WorkerError, match="give local:N"):
        Dask(address)


def test_an_interrupt_is_for_the_client_and_not_for_workers_of_this_machine():
    with Dask("local:1") as engine, engine.hold(toy.homes()) as held:
        (pid,) = set(held.map(toy.slow, 0.0))
        os.kill(pid, signal.SIGINT)
        assert there(STEPS, held) == here(STEPS, toy.homes())
        assert set(held.map(toy.slow, 0.0)) == {pid}
