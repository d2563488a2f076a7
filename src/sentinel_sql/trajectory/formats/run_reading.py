"""One run while its events come in: which steps are complete, and at last how it ended."""

from __future__ import annotations

from collections import Counter

from sentinel_sql.trajectory.formats.catalog_queries import reads_catalog_alone
from sentinel_sql.trajectory.formats.endings import (
    Ending,
    Rule,
    declines,
    says_nothing,
    states_result,
)
from sentinel_sql.trajectory.formats.events import ToolCall, ToolResult, as_text, holds_sql
from sentinel_sql.trajectory.formats.results import one_line, read_value
from sentinel_sql.trajectory.formats.taken_calls import (
    TakenCall,
    hides_sql,
    owner,
    ran_well,
    same_form,
    unmatched,
)
from sentinel_sql.trajectory.formats.tools import (
    Tools,
    arguments_of,
    ends_run,
    query_in,
    query_of,
)
from sentinel_sql.trajectory.record import Action, Observation, Step

_UNSTATED = (
    "last words that state no value of the newest query's result, and may decline or rest on an "
    "older query: taken as an answer"
)
_SAID = 600
"""Characters kept of what was said between two calls, ours."""


class RunReading:
    """The run over one question.

    The newest step is held back until the agent acts again or the run ends, because only then it
    is known whether its query is the answer. All others are complete once their results are in.

    Attributes:
        question: what the user asked.
        steps: the complete ones.
        ending: None while the run is open.
        notes: what the log left open and how it was settled → how often.
        refusal: why the run can't be read, or None.
    """

    def __init__(self, question: str, *, tools: Tools) -> None:
        self.question = question
        self.steps: list[Step] = []
        self.ending: Ending | None = None
        self.notes: Counter[str] = Counter()
        self.refusal: str | None = None
        self._tools = tools
        self._calls: list[TakenCall] = []
        self._emitted = 0
        self._said: list[str] = []
        self._closing: list[str] = []
        self._interrupted = False
        self._batch_over = False
        self._sql_said = False
        self._orphaned = False

    @property
    def acted(self) -> bool:
        """True if the agent has said or called anything."""
        return bool(self._calls or self._said)

    @property
    def called(self) -> bool:
        """True if the agent has called a tool."""
        return bool(self._calls)

    @property
    def concluded(self) -> bool:
        """True if the agent's newest act is words, or a call of a final tool."""
        return bool(self._closing or self._handed_in())

    @property
    def asks_back(self) -> bool:
        """True if the agent's newest words are a question, and no query over the data ran."""
        return (
            bool(self._closing)
            and self._closing[-1].rstrip().endswith("?")
            and not self._handed_in()
            and self._newest() is None
        )

    def ask(self, question: str) -> None:
        """Take in the question itself; what the agent said before, such as a greeting, ends."""
        self.question = question
        self._closing.clear()

    def agent_says(self, text: str) -> None:
        """Take in words of the agent: a thought if it acts again, else its last words."""
        self._said.append(one_line(text, _SAID))
        if not self._interrupted:
            self._closing.append(text)
        self._sql_said = self._sql_said or holds_sql(text)

    def user_says(self, text: str) -> None:
        """Take in words of the user that belong to the same question."""
        if not self.acted:
            self.question = f"{self.question}\n{text}"
            return
        if self.asks_back:
            self._closing.clear()
        self._interrupted = self.concluded
        self._said.append(f"USER: {one_line(text, _SAID)}")

    def agent_calls(self, call: ToolCall) -> None:
        """Take in a tool call."""
        newest = self._calls[-1].batch if self._calls else 0
        batch = newest + 1 if self._batch_over else newest
        self._batch_over = False
        for older in self._calls:
            # A reused id names the newest call; whoever has waited for a turn gets no result.
            if older.batch < batch:
                self._settle_without_result(older)
        if self._calls and self._calls[-1].batch == batch:
            self.notes["calls side by side: taken as steps one after the other"] += 1
        sql, final = query_of(call, self._tools), ends_run(call, self._tools)
        self._calls.append(
            TakenCall(
                call=call,
                sql=None if final else sql,
                final=final,
                thought="\n".join(self._said) or None,
                batch=batch,
            )
        )
        self._said, self._closing, self._interrupted = [], [], False
        given = arguments_of(call)
        if isinstance(given, str) and given.lstrip().startswith("{"):
            self.notes["arguments that are damaged JSON: taken as text"] += 1
        if sql is None and not final:
            self.notes[f"tool without SQL: {one_line(call.name, 60)}"] += 1
        self._emit()

    def tool_returns(self, result: ToolResult) -> None:
        """Take in a result, whichever of the open calls it belongs to."""
        self._batch_over = True
        waiting = [one for one in self._calls if not one.settled]
        calling = owner(result, waiting)
        if calling is None:
            self.notes["a tool result without its call: left out"] += 1
            self._orphaned = True
            return
        calling.result, calling.settled = result, True
        self._emit()

    def finish(self) -> None:
        """End the run: what is held back becomes a step, and the ending is decided."""
        if self.ending is not None:
            return
        for call in self._calls:
            self._settle_without_result(call)
        self.refusal = self.refusal or self._unread_sql()
        self.refusal = self.refusal or unmatched(self._calls, orphaned=self._orphaned)
        handed_in = self._handed_in()
        kept = self._calls[: len(self._calls) - len(handed_in)]
        self._emit()
        words = "\n".join(self._closing)
        if handed_in:
            self.ending = self._handed(handed_in[-1], words, kept)
        elif words:
            self.ending = self._judged("closing-words", words, kept)
        else:
            self._take(kept)
            self.ending = Ending(rule="unfinished")

    def _handed(self, final: TakenCall, words: str, kept: list[TakenCall]) -> Ending:
        """Decide how a run ended whose agent called a final tool."""
        given = arguments_of(final.call)
        sql = query_in(given)
        values = list(given.values()) if isinstance(given, dict) else [given]
        stated = [as_text(value) for value in values if value is not None and value != sql]
        stated = [text for text in stated if not says_nothing(text)]
        said = "\n".join([*filter(None, [final.thought]), *stated, *filter(None, [words])])
        if sql is not None:
            return self._handed_query(sql, said, final, kept)
        if not stated:
            return self._abstained("final-tool-null", said, kept)
        return self._judged("final-tool", said, kept)

    def _handed_query(self, sql: str, said: str, final: TakenCall, kept: list[TakenCall]) -> Ending:
        ran = [call for call in kept if call.sql and same_form(call.sql) == same_form(sql)]
        same = next((call for call in reversed(ran) if ran_well(self._built(call))), None)
        if same is not None:
            return self._answered("final-tool-query", same, said, kept)
        self._take(kept)
        observation = self._observed(final.result, sql)
        if observation.kind == "rows" and observation.rows is None:
            # The tool said "submitted", or the like: no result of the query.
            observation = Observation(kind="none")
        self._add("final_sql", final.thought, sql, observation, reply=said)
        known = observation.kind in ("rows", "empty")
        value = final.result.content if known and final.result else None
        return Ending(
            rule="final-tool-query" if known else "final-tool-not-run", text=said, value=value
        )

    def _judged(self, rule: Rule, said: str, kept: list[TakenCall]) -> Ending:
        """Decide how a run ended in words."""
        newest = self._newest()
        if newest is None:
            asked = [call for call in kept if call.sql]
            ran = any(ran_well(self._built(call)) for call in asked)
            why: Rule = "catalog-alone" if ran else "no-query-ran" if asked else "no-query"
            return self._abstained(why, said, kept)
        step = self._built(newest)
        if declines(said, question=self.question, answer=step):
            return self._abstained("declined-after-query", said, kept)
        if not states_result(said, question=self.question, answer=step):
            self.notes[_UNSTATED] += 1
        return self._answered(rule, newest, said, kept)

    def _answered(self, rule: Rule, by: TakenCall, said: str, kept: list[TakenCall]) -> Ending:
        step = self._built(by)
        if by is kept[-1]:
            self._add("final_sql", step.thought, step.sql, step.observation, reply=said)
        else:
            # The step is long complete, so the answer states its query again.
            self._take(kept)
            self._add("final_sql", None, step.sql, step.observation, reply=said)
        return Ending(rule=rule, text=said, value=by.result.content if by.result else None)

    def _abstained(self, rule: Rule, said: str, kept: list[TakenCall]) -> Ending:
        self._take(kept)
        self._add("final_null", one_line(said, _SAID) or None, None, Observation(kind="none"))
        return Ending(rule=rule, text=said)

    def _handed_in(self) -> list[TakenCall]:
        """Return the calls of final tools that the run ends with so far."""
        at = len(self._calls)
        while at and self._calls[at - 1].final:
            at -= 1
        return self._calls[at:]

    def _newest(self) -> TakenCall | None:
        """Return the newest query over the data that ran without an error."""
        for call in reversed(self._calls):
            if call.sql and not reads_catalog_alone(call.sql) and ran_well(self._built(call)):
                return call
        return None

    def _emit(self) -> None:
        """Complete the steps that a later call shows to be exploratory."""
        until = len(self._calls) - len(self._handed_in()) - 1
        while self._emitted < until and self._calls[self._emitted].settled:
            self._take([self._calls[self._emitted]], whole=False)

    def _take(self, kept: list[TakenCall], *, whole: bool = True) -> None:
        for call in kept[self._emitted :] if whole else kept:
            step = self._built(call)
            self._add("sql", step.thought, step.sql, step.observation, reply=step.reply)
            self._emitted += 1

    def _add(
        self,
        action: Action,
        thought: str | None,
        sql: str | None,
        observation: Observation,
        *,
        reply: str | None = None,
    ) -> None:
        self.steps.append(
            Step(
                index=len(self.steps) + 1,
                thought=thought,
                action=action,
                sql=sql,
                observation=observation,
                reply=reply or None,
            )
        )

    def _built(self, call: TakenCall) -> Step:
        if call.step is not None:
            return call.step
        shown = None
        if call.sql is None:
            shown = f"CALL: {call.call.name} {one_line(as_text(arguments_of(call.call)), _SAID)}"
        built = Step(
            index=1,
            thought=call.thought,
            action="sql",
            sql=call.sql,
            observation=self._observed(call.result, call.sql),
            reply=shown,
        )
        if call.settled:
            call.step = built
        return built

    def _observed(self, result: ToolResult | None, sql: str | None) -> Observation:
        if result is None:
            return Observation(kind="none")
        if sql is None:
            return Observation(kind="none", text=one_line(as_text(result.content), _SAID))
        observation = read_value(result.content, failed=result.failed)
        if observation.kind == "rows" and observation.rows is None:
            self.notes["a result that is no list of rows: kept as text"] += 1
        return observation

    def _settle_without_result(self, call: TakenCall) -> None:
        if not call.settled:
            call.settled = True
            if not call.final:
                self.notes["a tool call without a result"] += 1

    def _unread_sql(self) -> str | None:
        """Say where a run holds SQL of which no step was made, if no call of it was read."""
        if any(call.sql for call in self._calls) or any(
            query_in(arguments_of(call.call)) for call in self._handed_in()
        ):
            return None
        for call in self._calls:
            if hides_sql(call):
                name = one_line(call.call.name, 60)
                return (
                    f"the tool {name} is given SQL that isn't read; name it: --sql-tool "
                    f"{name}:ARGUMENT"
                )
        if self._sql_said:
            return "the agent's words hold SQL, and no call that runs SQL was read; check --format"
        return None
