import pytest


@pytest.fixture
def file(tmp_path):
    """Writes a file below a folder of the test's own, and gives its path."""

    def write(name, data):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return write
