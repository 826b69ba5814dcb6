"""An option of a model or of an inference, declared once: its default, its description, and what it may be."""

from dataclasses import Field, dataclass, field, fields
from inspect import cleandoc
from textwrap import wrap
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from diln.models.checks import as_pair, check_choice, check_number, check_whole

Pair = tuple[float, float]
Owner = TypeVar("Owner", bound=type)
MOST = 1_000_000_000  # that a whole number may be where nothing else is said
WIDTH = 112  # of a line in a docstring
WORDS = {int: "int", float: "float", Pair: "(shape, rate)"}


@dataclass(frozen=True, kw_only=True)
class About:
    """What is known of an option beside its type and its default.

    ``text`` is said in docstrings and by --help, ``more`` in docstrings only. ``by_inference`` is what stands for None
    with sampling and with variational inference; ``default`` says in words what neither that nor the value says.
    """

    text: str
    more: str = ""
    default: str | tuple[str, str] = ""
    by_inference: tuple[Any, Any] | None = None
    kind: str = ""  # the type in words, where the annotation does not say it
    least: float | None = None  # without it numbers are above 0, whole numbers from 1 on
    most: float | None = None
    hint: str = ""  # said where a value is refused
    free: bool = False  # whether it is checked where it is used
    built_in: bool = False  # whether a model that has learned cannot change it
    models: tuple[str, ...] = ()  # that it is for, if not for all

    @property
    def defaults(self) -> tuple[str, str] | None:
        """The default in words for sampling and for variational inference, where the value does not say it."""
        if self.default:
            return (self.default, self.default) if isinstance(self.default, str) else self.default
        return None if self.by_inference is None else (said(self.by_inference[0]), said(self.by_inference[1]))


def option(value: Any, text: str, more: str = "", **known: Any) -> Any:
    """A field of a dataclass with its default value and its description."""
    return field(default=value, metadata=about(text, more, **known))


def like(owner: type, name: str, default: Any) -> Any:
    """The same option as another class has, with a default of its own."""
    known = next(one for one in fields(owner) if one.name == name)
    return field(default=default, metadata=known.metadata)


def about(text: str, more: str = "", **known: Any) -> dict[str, About]:
    """The metadata of such a field."""
    return {"about": About(text=text, more=more, **known)}


def about_of(one: Field[Any]) -> About:
    """What is known of an option."""
    known: About = one.metadata["about"]
    return known


def parts(one: Field[Any]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The words that an option may be, and the types."""
    every = get_args(one.type) if get_origin(one.type) in (Union, UnionType) else (one.type,)
    words = [word for part in every if get_origin(part) is Literal for word in get_args(part)]
    return tuple(words), tuple(part for part in every if get_origin(part) is not Literal)


def checked(one: Field[Any], value: Any) -> Any:
    """A value as it is used; raise if it makes no sense."""
    known, (words, types) = about_of(one), parts(one)
    if known.free or (isinstance(value, str) and value in words) or (value is None and NoneType in types):
        return value
    if Pair in types:
        return as_pair(one.name, value)
    others = "".join(f", or {word!r}" for word in words) + known.hint
    if int in types:
        check_whole(one.name, value, 1 if known.least is None else known.least, others, known.most or MOST)
        return int(value)
    if float in types:
        check_number(one.name, value, known.least, known.most, others)
        return float(value)  # of one type, so that loops are compiled once
    if words and (isinstance(value, str) or not types):
        check_choice(one.name, value, words)
    return value


def said(value: Any) -> str:
    """A value in words."""
    if isinstance(value, tuple):
        return f"({', '.join(map(said, value))})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def described(one: Field[Any]) -> str:
    """An option as an entry in a docstring."""
    known, (words, types) = about_of(one), parts(one)
    kinds = [WORDS[part] for part in types if part in WORDS] + [f'"{word}"' for word in words]
    kind = known.kind or " or ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
    header = f"{one.name} : {kind}, " + ("optional" if one.default is None else f"default={one.default!r}")
    default = ""
    if known.defaults is not None:
        first, second = known.defaults
        default = f"Default: {first if first == second else f'{first}; with variational inference {second}'}."
    return entry(header, " ".join(filter(None, [known.text, known.more, default])))


def entry(header: str, text: str) -> str:
    """A part of a section in a docstring."""
    return "\n    ".join([header, *wrap(text, WIDTH)])


def documented(owner: Owner) -> Owner:
    """Write what is declared into a class's docstring: its options, its own first, and its attributes."""
    own = [one for base in owner.__mro__ for one in vars(base).get("__annotations__", ())]
    options = sorted(fields(owner), key=lambda one: (one.kw_only, own.index(one.name)))
    names = [name for name in dir(owner) if name.endswith("_") and not name.startswith("_")]
    attributes = {name: getattr(owner, name) for name in names}
    sections = {
        "Parameters": [*(described(one) for one in options), *_engine(owner)],
        "Attributes": [entry(name, _summary(one)) for name, one in attributes.items() if isinstance(one, property)],
    }
    text = [cleandoc(owner.__doc__ or "")]
    text += ["\n".join([title, "-" * len(title), *entries]) for title, entries in sections.items() if entries]
    owner.__doc__ = "\n\n".join(text) + "\n"
    return owner


def _engine(owner: type) -> list[str]:
    """Where fits run, which a model can be told but is none of its options."""
    told = (
        "Where fits run, and what is asked of the model, if not on threads of this process. No parameter: get_params, "
        "pickles and files do not have it."
    )
    return [entry("engine : Dask, optional", told)] if hasattr(owner, "engine") else []


def _summary(attribute: property) -> str:
    return " ".join((attribute.__doc__ or "").split())
