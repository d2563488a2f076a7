"""The whole loop with public names alone; run by `test_public_loop` where no checkout is."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator

import sentinel_sql as sentinel


def my_agent(question: str) -> Iterator[sentinel.LiveStep]:
    """An agent of the user's: it looks first, and then answers."""
    yield sentinel.LiveStep(
        thought="look first", sql="SELECT drug FROM prescriptions", result=[("heparin",)]
    )
    yield sentinel.LiveStep(
        thought="plain and certain",
        sql="SELECT COUNT(*) FROM prescriptions WHERE drug = 'heparin'",
        result=[(3,)],
        final=True,
        text="There are 3 orders of heparin.",
    )


async def my_async_agent(question: str) -> AsyncIterator[sentinel.LiveStep]:
    """The same in asynchronous code."""
    for step in my_agent(question):
        yield step


async def ask(guard: sentinel.Guard, question: str) -> sentinel.Answer:
    """Ask it so."""
    return await guard.run(my_async_agent, question)


def main() -> None:
    """Finish the loop in ten statements."""
    questions = sentinel.read_questions("questions.jsonl")
    pools = sentinel.make_pools(questions, seed=42)
    sentinel.import_runs("logs.jsonl", store="runs")
    labels = sentinel.label_runs("runs", questions, "tiny.sqlite")
    monitor = sentinel.fit("runs", pools, labels)
    sentinel.save_monitor(monitor, "monitor")
    evaluation = sentinel.evaluate(
        "monitor", "runs", pools, labels, single_runs=True, resamples=200
    )
    evaluation.save("evaluation")
    report = sentinel.write_report(evaluation, "report")
    guard = sentinel.Guard.load("monitor", stakes=1, agent=monitor.agent)
    answer = guard.run(my_agent, "how many orders of heparin are there")

    again = asyncio.run(ask(guard, "how many orders of heparin are there"))
    assert (answer.decision, answer.confidence) == (again.decision, again.confidence)
    assert evaluation.spent == 1
    assert report.page.is_file()
    assert report.runs > 0
    try:
        sentinel.read_labels("nothing")
    except sentinel.LabelsError as error:
        refused: sentinel.InputError = error
    labels.save("labels.jsonl")
    loaded: sentinel.Labels = sentinel.read_labels("labels.jsonl")
    pools.write("pools.json")
    from_files = sentinel.fit("runs", "pools.json", loaded)
    assert from_files.agent == monitor.agent
    sys.stdout.write(f"{answer.decision} {answer.reason} {refused.exit_code} {sentinel.__file__}")


if __name__ == "__main__":
    main()
