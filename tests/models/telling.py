"""Models told all their options in one go: those of the inference go to it."""

from dataclasses import fields
from typing import Any

from diln.models.base import TopicModel
from diln.models.options import INFERENCES


def told(model: type[TopicModel], inference: str = "sampling", **given: Any) -> TopicModel:
    way = INFERENCES.get(inference)
    names = {one.name for one in fields(way)} & set(given) if way else set()
    how = way(**{name: given.pop(name) for name in names}) if names else inference
    return model(inference=how, **given)
