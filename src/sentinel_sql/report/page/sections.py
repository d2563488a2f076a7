"""The report's sections: which tables and which figure answer which question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Section:
    """One section of the page.

    Attributes:
        name: for links.
        title: the question that it answers.
        lead: how to read it, for someone who never read the paper.
        tables: by name, in order; those that an evaluation doesn't have are passed over.
        figure: of `figures.FIGURES`, or None.
        command: makes the tables where an evaluation has none of them yet.
    """

    name: str
    title: str
    lead: str
    tables: Sequence[str]
    figure: str | None = None
    command: str = "sentinel evaluate … --out FOLDER"


SECTIONS: Final[Sequence[Section]] = (
    Section(
        name="by-stakes",
        title="What happens as a wrong answer costs more",
        lead=(
            "A right answer earns 1, a wrong one costs λ, and no answer earns 1 where the question "
            "has none and 0 where it has. RS(λ) is the mean over all questions. The higher λ, the "
            "more certain an answer must be before it is shown."
        ),
        tables=("stakes",),
        figure="stakes",
    ),
    Section(
        name="ladder",
        title="What each check adds",
        lead=(
            "The same recorded runs under ever more checks. The gate stops runs whose question "
            "looks unanswerable, the delivery bar keeps answers back that aren't sure enough, the "
            "early stop ends runs that won't end well."
        ),
        tables=("ladder", "gain", "operating", "early_stop", "exact_bar", "reweighting", "strict"),
        figure="ladder",
    ),
    Section(
        name="risk",
        title="How many wrong answers slip through",
        lead=(
            "If only the most confident share of the answers is shown, so many of these are wrong. "
            "The diamonds are where the delivery bar stands at these stakes. A good confidence "
            "rises late and slowly."
        ),
        tables=("selective", "risk_coverage", "withhold", "withhold_roc", "roc"),
        figure="risk_coverage",
    ),
    Section(
        name="calibration",
        title="Do the confidences mean what they say",
        lead=(
            "Of the answers that get a confidence of 0.8, 80 % should be right. On the dashed line "
            "they are; below it the monitor is too sure."
        ),
        tables=("reliability", "confidence_bins"),
        figure="reliability",
    ),
    Section(
        name="heads",
        title="How early the monitor knows",
        lead=(
            "AUROC is the chance that a good run gets a higher score than a bad one: 0.5 is "
            "guessing, 1 is perfect. Quiet failures are answers that ran, aren't empty and are "
            "wrong: the plain rule 'executed and not empty' can't see them."
        ),
        tables=("heads", "by_step", "question_only"),
        figure="by_step",
    ),
    Section(
        name="economics",
        title="What unanswerable questions cost, and what is saved",
        lead="Steps, tokens and seconds of the agent, by how its runs end.",
        tables=("step_economics", "resources", "cost"),
        figure="step_economics",
    ),
    Section(
        name="features",
        title="Which signals carry the confidence",
        lead=(
            "What each feature adds to the heads: one that adds nothing, on questions that it "
            "wasn't chosen on, should go."
        ),
        tables=("feature_screen", "survivor_matrix", "family_knockouts"),
        command="sentinel heads screen … --out FOLDER",
    ),
    Section(
        name="leakage",
        title="Does anything leak",
        lead=(
            "Controls that must come out at chance, and simple readers that show how much of the "
            "score is in the wording alone."
        ),
        tables=("leakage", "leakage_controls", "leakage_copies"),
        command="sentinel audit leakage … --out FOLDER",
    ),
    Section(
        name="rivals",
        title="Would something simpler do",
        lead=(
            "Other ways to doubt an answer, on the very same answers. What doesn't beat the plain "
            "rule 'executed and not empty' adds nothing."
        ),
        tables=("rivals", "rival_payoffs", "rivals_covered", "rival_payoffs_covered", "candidates"),
        command="sentinel evaluate … --rivals --out FOLDER",
    ),
    Section(
        name="seeds",
        title="How much is luck",
        lead="The same fit with other seeds.",
        tables=("seeds", "seed_figures"),
        command="sentinel evaluate … --seeds 5 --out FOLDER",
    ),
    Section(
        name="labels",
        title="Were the answers judged rightly",
        lead="Judges compared with each other and with people who didn't see the judges' verdicts.",
        tables=("disagreement", "disagreement_reasons", "judge_audit", "raters"),
        command="sentinel audit disagreement … --out FOLDER, sentinel audit score … --out FOLDER",
    ),
)
