"""From the manifests of each earlier schema of models and checkpoints to those of the next."""

from typing import Any

from diln.files import Content
from diln.models.options import INFERENCES, MODELS, RENAMED, options_of

IDLE = ("weights", "spec")  # what nobody read beside the numbers of sampling


def model_of_1(manifest: Content) -> Content:
    """Schema 1 to 2: parameters could have former names, or no effect, and there were numbers that nobody read."""
    return {**manifest, "content": _model(manifest["content"])}


def checkpoint_of_1(manifest: Content) -> Content:
    """Schema 1 to 2: as models; besides, all parts of the content could be side by side."""
    content = (
        manifest["content"] if manifest["content"]["phase"] in manifest["content"] else _sorted(manifest["content"])
    )
    if content["phase"] == "online":
        content = {**content, "online": _model(content["online"])}
    told = content["fingerprint"]
    return {**manifest, "content": {**content, "fingerprint": parameters_of_1(told["model"], told)}}


def _sorted(content: Content) -> Content:
    """A checkpoint whose parts were side by side."""
    told = {name: content[name] for name in ("phase", "fingerprint")}
    if content["phase"] == "chain":
        return {**told, "seed": content["seed"], "chain": {name: content[name] for name in ("run", "history")}}
    return {**told, "seed": content["fitted"]["state"]["seed"], "online": content["fitted"]}


def _model(content: Content) -> Content:
    found = {**content, "parameters": parameters_of_1(content["class"], content["parameters"])}
    if "sampled" in content:
        found["sampled"] = {name: value for name, value in content["sampled"].items() if name not in IDLE}
    return found


def parameters_of_1(kind: str, stored: dict[str, Any]) -> dict[str, Any]:
    """Parameters, or a fingerprint, by the names that they have now, without those that have no effect."""
    every = {name for one in MODELS for way in INFERENCES for name in options_of(one, way)}
    idle = every - set(options_of(kind, stored.get("inference", "sampling")))
    named = {RENAMED.get(name, name): value for name, value in stored.items()}
    return {name: value for name, value in named.items() if name not in idle}
