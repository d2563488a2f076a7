"""The sections of the report, each with its tables and its figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Section:
    """One section of the page.

    Attributes:
        name: the name for links.
        title: the heading.
        lead: how to read it, for someone who hasn't read the paper.
        tables: names of tables, in order; an evaluation need not have all of them.
        figure: a name of `figures.FIGURES`, or None.
        command: the command that makes the tables.
    """

    name: str
    title: str
    lead: str
    tables: Sequence[str]
    figure: str | None = None
    command: str = "sentinel evaluate … --out FOLDER"


SECTIONS: Final[Sequence[Section]] = (
    Section(
        name="rivals",
        title="Would something simpler do?",
        lead=(
            "Other methods to detect wrong answers, on the same answers. A method that doesn't "
            "beat the plain rule 'executed and not empty' adds nothing."
        ),
        tables=("rivals", "rival_payoffs", "rivals_covered", "rival_payoffs_covered", "candidates"),
        command="sentinel evaluate … --rivals --out FOLDER",
    ),
    Section(
        name="by-stakes",
        title="What happens as a wrong answer costs more",
        lead=(
            "A right answer earns 1, and a wrong one costs λ. No answer earns 1 if the question is "
            "unanswerable, else 0. RS(λ) is the mean over all questions. With a higher λ, an "
            "answer must be more certain before it is shown."
        ),
        tables=("stakes",),
        figure="stakes",
    ),
    Section(
        name="ladder",
        title="What each check adds",
        lead=(
            "The same recorded runs with more and more checks. The gate stops runs whose question "
            "looks unanswerable. The delivery bar withholds answers that aren't sure enough. The "
            "early stop ends runs that are unlikely to succeed."
        ),
        tables=("ladder", "gain", "operating", "early_stop", "exact_bar", "reweighting", "strict"),
        figure="ladder",
    ),
    Section(
        name="risk",
        title="How many wrong answers are shown",
        lead=(
            "The share of wrong answers when only the most confident answers are shown. The "
            "diamonds are the points of the delivery bar at these stakes. With a good confidence "
            "the curve rises late and slowly."
        ),
        tables=("selective", "risk_coverage", "withhold", "withhold_roc", "roc"),
        figure="risk_coverage",
    ),
    Section(
        name="calibration",
        title="Are the confidences calibrated?",
        lead=(
            "Of the answers with a confidence of 0.8, 80 % should be right, as on the dashed line. "
            "Below the line the monitor is too sure."
        ),
        tables=("reliability", "confidence_bins"),
        figure="reliability",
    ),
    Section(
        name="heads",
        title="How early the monitor detects failures",
        lead=(
            "AUROC is the probability that a good run gets a higher score than a bad one: 0.5 is "
            "chance, 1 is perfect. Quiet failures are wrong answers that executed and aren't "
            "empty. The plain rule 'executed and not empty' can't detect them."
        ),
        tables=("heads", "warnings", "by_step", "open_prefixes", "question_only"),
        figure="by_step",
    ),
    Section(
        name="economics",
        title="What unanswerable questions cost, and what is saved",
        lead="Steps, tokens and seconds of the agent, by the outcome of its runs.",
        tables=("step_economics", "resources", "cost"),
        figure="step_economics",
    ),
    Section(
        name="features",
        title="Which features improve the confidence",
        lead=(
            "The AUROC that each feature adds, on questions that weren't used to fit it. A feature "
            "that adds nothing should be removed."
        ),
        tables=("feature_screen", "survivor_matrix", "family_knockouts"),
        command="sentinel heads screen … --out FOLDER",
    ),
    Section(
        name="leakage",
        title="Is there leakage?",
        lead=(
            "Controls that must be at chance, and simple readers that show how much the wording "
            "alone reveals."
        ),
        tables=("leakage", "leakage_controls", "leakage_copies"),
        command="sentinel audit leakage … --out FOLDER",
    ),
    Section(
        name="seeds",
        title="How much is chance?",
        lead="The same monitor, fitted with other seeds.",
        tables=("seeds", "seed_figures"),
        command="sentinel evaluate … --seeds 5 --out FOLDER",
    ),
    Section(
        name="labels",
        title="Were the answers judged correctly?",
        lead="Judges compared with each other and with people who didn't see the judges' verdicts.",
        tables=("disagreement", "disagreement_reasons", "judge_audit", "raters"),
        command="sentinel audit disagreement … --out FOLDER, sentinel audit score … --out FOLDER",
    ),
)
