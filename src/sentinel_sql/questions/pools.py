"""Splits questions into train, calibration and held-out pools that share no template."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import Any, Literal, Self, get_args

from sentinel_sql.arguments import checked, checked_fields
from sentinel_sql.errors import PoolsError
from sentinel_sql.questions.read import read_questions
from sentinel_sql.questions.record import Question, question_id_of
from sentinel_sql.questions.templates import template_of as template_of_one
from sentinel_sql.questions.templates import templates_of
from sentinel_sql.storage.paths import path_of
from sentinel_sql.storage.whole_file import write_whole

FORMAT = "sentinel-pools/1"

PoolName = Literal["train", "calibration", "heldout"]
POOLS: tuple[PoolName, ...] = get_args(PoolName)

FRACTIONS: Mapping[PoolName, float] = MappingProxyType(
    {"train": 0.5, "calibration": 0.25, "heldout": 0.25}
)
"""Target share of the questions in each pool (paper section 4)."""

_REMEDY = "make it again with `sentinel questions pools`"


@checked_fields
@dataclass(frozen=True, kw_only=True)
class Pools:
    """The pool manifest: which pool and template each question belongs to.

    `pools` maps a template to its one pool, `templates` a question id to its template; so no
    template can be in two pools.
    """

    seed: int
    fractions: Mapping[PoolName, float]
    pools: Mapping[str, PoolName]
    templates: Mapping[str, str]

    def __contains__(self, run_id: object) -> bool:
        return isinstance(run_id, str) and question_id_of(run_id, self.templates) is not None

    def template_of(self, run_id: str) -> str:
        """Return the template of a question, or of a run's question (`id#k` is run k of `id`).

        Raises:
            PoolsError: the manifest doesn't know the question.
        """
        question_id = question_id_of(run_id, self.templates)
        if question_id is None:
            raise PoolsError(
                f"question {_shown(run_id)} isn't in the pool manifest: make the pools from the "
                "question files that the runs were collected with"
            )
        return self.templates[question_id]

    def pool_of(self, run_id: str) -> PoolName:
        """Return the pool of a question, or of a run's question (`id#k` is run k of `id`).

        Raises:
            PoolsError: the manifest doesn't know the question.
        """
        return self.pools[self.template_of(run_id)]

    def require(self, run_ids: Iterable[str]) -> None:
        """Refuse runs of questions that the manifest doesn't know.

        Raises:
            PoolsError: there are such runs; the message has their number and the first.
        """
        unknown = [run_id for run_id in run_ids if run_id not in self]
        if unknown:
            raise PoolsError(
                f"{len(unknown)} runs are of questions that the pool manifest doesn't know, such "
                f"as {_shown(unknown[0])}: make the pools from the question files that the runs "
                "were collected with"
            )

    def summary(self) -> dict[str, Any]:
        """Return the counts of questions and templates by pool, the seed and the hash."""
        questions = Counter(self.pools[template] for template in self.templates.values())
        templates = Counter(self.pools.values())
        return {
            "questions": len(self.templates),
            "templates": len(self.pools),
            **{
                pool: {"questions": questions[pool], "templates": templates[pool]} for pool in POOLS
            },
            "seed": self.seed,
            "sha256": self.sha256,
        }

    @cached_property
    def sha256(self) -> str:
        """Hash of the content; it identifies the manifest in a bundle."""
        canonical = json.dumps(self._content(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def _content(self) -> dict[str, Any]:
        order = sorted(self.pools)
        number = {template: index for index, template in enumerate(order)}
        return {
            "format": FORMAT,
            "seed": self.seed,
            "fractions": {pool: float(self.fractions[pool]) for pool in POOLS},
            "templates": [{"template": t, "pool": self.pools[t]} for t in order],
            "questions": {qid: number[t] for qid, t in sorted(self.templates.items())},
        }

    def write(self, path: str | PathLike[str]) -> None:
        """Write the manifest as JSON; on an error, no part of the file appears.

        Raises:
            PoolsError: the file can't be written.
        """
        path = path_of(path)
        text = json.dumps({**self._content(), "sha256": self.sha256}, indent=1) + "\n"
        try:
            write_whole(path, text)
        except OSError as error:
            raise PoolsError(
                f"{path} can't be written ({error.strerror}): name another place for the manifest"
            ) from error

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read a manifest that `write` wrote.

        Raises:
            PoolsError: the file is missing, isn't a manifest, has another version, or was
                changed after it was written.
        """
        path = path_of(path)
        try:
            data = json.loads(path.read_bytes())
        except OSError as error:
            raise PoolsError(f"{path} can't be read ({error.strerror}): {_REMEDY}") from error
        except (ValueError, RecursionError) as error:
            raise PoolsError(f"{path} isn't JSON, so it is no pool manifest: {_REMEDY}") from error
        version = data.get("format") if isinstance(data, dict) else None
        if version != FORMAT:
            raise PoolsError(f"{path} isn't a pool manifest of format {FORMAT}: {_REMEDY}")
        try:
            order = [entry["template"] for entry in data["templates"]]
            pools = cls(
                seed=data["seed"],
                fractions={pool: data["fractions"][pool] for pool in POOLS},
                pools={entry["template"]: entry["pool"] for entry in data["templates"]},
                templates={qid: order[number] for qid, number in data["questions"].items()},
            )
            intact = (
                len(pools.pools) == len(order)
                and set(pools.pools.values()) <= set(POOLS)
                and {**pools._content(), "sha256": pools.sha256} == data
            )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            intact = False
        if not intact:
            raise PoolsError(
                f"{path} was changed after it was made, its hash doesn't fit its content: {_REMEDY}"
            )
        return pools


@checked
def make_pools(
    questions: Sequence[Question] | str | PathLike[str],
    *,
    seed: int = 42,
    fractions: Mapping[PoolName, float] = FRACTIONS,
    like: Pools | None = None,
) -> Pools:
    """Split questions into three pools by template.

    Each pool gets about its fraction of the answerable and of the unanswerable questions.
    Templates are assigned from large to small (by powers of two, shuffled by the seed within one
    size), each to the pool that is least full of its kind (our rule). The result depends on the
    set of questions, the seed and the fractions, but not on the order of the questions.

    Args:
        questions: questions with distinct ids, or their file.
        seed: any integer; the same seed gives the same pools.
        fractions: share of each pool, > 0; they sum to 1.
        like: earlier pools. Each template in them keeps its pool, so that no training template
            becomes a held-out one; only new templates are assigned. Templates that the data set
            names, and that lie in different pools, stay apart even if these questions word them
            alike.

    Raises:
        QuestionsError: the file can't be read.
        PoolsError: the fractions don't sum to 1, there are fewer than three templates, or a
            template without a name of its own joins two that are in different pools of `like`.
    """
    if (
        set(fractions) != set(POOLS)
        or not all(0 < share < 1 for share in fractions.values())
        or not math.isclose(sum(fractions.values()), 1.0, abs_tol=1e-9)
    ):
        raise PoolsError(
            "the fractions of train, calibration and heldout must each be above 0 and sum to 1: "
            f"got {dict(fractions)}"
        )
    if isinstance(questions, str | PathLike):
        questions = read_questions(questions)
    template_of = templates_of(questions)
    if like is not None:
        template_of = _kept_apart(questions, template_of, like)
    sizes: dict[str, Counter[bool]] = defaultdict(Counter)
    for question in questions:
        sizes[template_of[question.id]][question.answerable] += 1
    if len(sizes) < len(POOLS):
        raise PoolsError(
            f"the questions have {len(sizes)} templates, but three pools need at least 3: "
            "add questions of other kinds"
        )
    totals = Counter(question.answerable for question in questions)
    filled: dict[PoolName, Counter[bool]] = {pool: Counter() for pool in POOLS}
    assigned: dict[str, PoolName] = {}
    if like is not None:
        assigned = _earlier_pools(questions, template_of, like)
        for template, pool in assigned.items():
            filled[pool].update(sizes[template])

    def fullness(pool: PoolName, template: str) -> tuple[float, str]:
        # Counting half of the template as already in the pool rounds to the nearer pool.
        level = sum(
            count * (filled[pool][kind] + count / 2) / (fractions[pool] * totals[kind])
            for kind, count in sizes[template].items()
        )
        return (round(level, 12), _hash(seed, template, pool))

    def order_key(template: str) -> tuple[int, str]:
        return (-sizes[template].total().bit_length(), _hash(seed, template))

    for template in sorted(sizes.keys() - assigned.keys(), key=order_key):
        pool = min(POOLS, key=lambda name: fullness(name, template))
        assigned[template] = pool
        filled[pool].update(sizes[template])
    return Pools(seed=seed, fractions=dict(fractions), pools=assigned, templates=template_of)


def _kept_apart(
    questions: Sequence[Question], template_of: Mapping[str, str], like: Pools
) -> dict[str, str]:
    """Return templates in which no two named ones of different earlier pools are joined."""
    named = {it.id: it.template for it in questions if it.template in like.pools and it.template}
    pools_of: dict[str, set[PoolName]] = defaultdict(set)
    for identity, own in named.items():
        pools_of[template_of[identity]].add(like.pools[own])
    apart = {
        identity: own for identity, own in named.items() if len(pools_of[template_of[identity]]) > 1
    }
    return {**template_of, **apart}


def _earlier_pools(
    questions: Sequence[Question], template_of: Mapping[str, str], like: Pools
) -> dict[str, PoolName]:
    """Return the pool of each template in the earlier pools, by any of its names.

    A template is named by the first of its masked queries or wordings, so new questions may change
    its name. All of its names are looked up.
    """
    pool_of_template: dict[str, PoolName] = {}
    for question in questions:
        template = template_of[question.id]
        unnamed = replace(question, template=None)
        for name in {template, template_of_one(question), template_of_one(unnamed)}:
            pool = like.pools.get(name)
            if pool is not None and pool_of_template.setdefault(template, pool) != pool:
                raise PoolsError(
                    f"the template {_shown(template)} joins questions of the "
                    f"{pool_of_template[template]} and the {pool} pool of the earlier manifest: "
                    "give them separate templates, or make the pools without it"
                )
    return pool_of_template


def _hash(seed: int, *parts: str) -> str:
    return hashlib.sha256(json.dumps([seed, *parts]).encode()).hexdigest()


def _shown(run_id: str) -> str:
    return repr(run_id if len(run_id) <= 80 else run_id[:79] + "…")
