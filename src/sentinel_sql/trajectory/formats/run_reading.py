"""Builds the steps of one run from its events, and finally decides how the run ended."""

from __future__ import annotations

from collections import Counter

from sentinel_sql.trajectory.formats.catalog_queries import reads_only_catalog
from sentinel_sql.trajectory.formats.endings import (
    Ending,
    Rule,
    declines,
    says_nothing,
    states_result,
)
from sentinel_sql.trajectory.formats.events import ToolCall, ToolResult, as_text, holds_sql
from sentinel_sql.trajectory.formats.open_calls import (
    OpenCall,
    hides_sql,
    owner,
    ran_well,
    same_form,
    unmatched,
)
from sentinel_sql.trajectory.formats.results import one_line, read_value
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
_LONGEST_WORDS = 600
"""Characters kept of the words between two calls (our choice)."""


class RunReading:
    """The run on one question.

    The newest step waits until the agent acts again or the run ends, because only then is it known
    whether its query is the answer. All other steps are complete when their results have arrived.

    Attributes:
        question: the user's question.
        steps: the complete steps.
        ending: how the run ended; None while it is open.
        notes: what the log left open and how it was decided → number of times.
        refusal: why the run can't be read, or None.
    """

    def __init__(self, question: str, *, tools: Tools) -> None:
        self.question = question
        self.steps: list[Step] = []
        self.ending: Ending | None = None
        self.notes: Counter[str] = Counter()
        self.refusal: str | None = None
        self._tools = tools
        self._calls: list[OpenCall] = []
        self._emitted = 0
        self._words: list[str] = []
        self._closing: list[str] = []
        self._interrupted = False
        self._batch_over = False
        self._sql_said = False
        self._orphaned = False

    @property
    def acted(self) -> bool:
        """True if the agent has said or called anything."""
        return bool(self._calls or self._words)

    @property
    def called(self) -> bool:
        """True if the agent has called a tool."""
        return bool(self._calls)

    @property
    def concluded(self) -> bool:
        """True if the agent's last action is words, or a call of a final tool."""
        return bool(self._closing or self._final_calls())

    @property
    def asks_back(self) -> bool:
        """True if the agent's last words are a question, and no query over the data ran."""
        return (
            bool(self._closing)
            and self._closing[-1].rstrip().endswith("?")
            and not self._final_calls()
            and self._newest() is None
        )

    def ask(self, question: str) -> None:
        """Set the question, and drop earlier words of the agent, such as a greeting."""
        self.question = question
        self._closing.clear()

    def agent_says(self, text: str) -> None:
        """Add words of the agent: a thought if it acts again, else its last words."""
        self._words.append(one_line(text, _LONGEST_WORDS))
        if not self._interrupted:
            self._closing.append(text)
        self._sql_said = self._sql_said or holds_sql(text)

    def user_says(self, text: str) -> None:
        """Add words of the user that belong to the same question."""
        if not self.acted:
            self.question = f"{self.question}\n{text}"
            return
        if self.asks_back:
            self._closing.clear()
        self._interrupted = self.concluded
        self._words.append(f"USER: {one_line(text, _LONGEST_WORDS)}")

    def agent_calls(self, call: ToolCall) -> None:
        """Add a tool call."""
        newest = self._calls[-1].batch if self._calls else 0
        batch = newest + 1 if self._batch_over else newest
        self._batch_over = False
        for older in self._calls:
            # A reused id names the newest call, so calls of earlier turns get no result any more.
            if older.batch < batch:
                self._settle_without_result(older)
        if self._calls and self._calls[-1].batch == batch:
            self.notes["calls side by side: taken as steps one after the other"] += 1
        sql, final = query_of(call, self._tools), ends_run(call, self._tools)
        self._calls.append(
            OpenCall(
                call=call,
                sql=None if final else sql,
                final=final,
                thought="\n".join(self._words) or None,
                batch=batch,
            )
        )
        self._words, self._closing, self._interrupted = [], [], False
        given = arguments_of(call)
        if isinstance(given, str) and given.lstrip().startswith("{"):
            self.notes["arguments that are damaged JSON: taken as text"] += 1
        if sql is None and not final:
            self.notes[f"tool without SQL: {one_line(call.name, 60)}"] += 1
        self._emit()

    def tool_returns(self, result: ToolResult) -> None:
        """Add a result to the open call that it belongs to."""
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
        """End the run: complete the waiting step, and decide the ending."""
        if self.ending is not None:
            return
        for call in self._calls:
            self._settle_without_result(call)
        self.refusal = self.refusal or self._unread_sql()
        self.refusal = self.refusal or unmatched(self._calls, orphaned=self._orphaned)
        final_calls = self._final_calls()
        calls = self._calls[: len(self._calls) - len(final_calls)]
        self._emit()
        words = "\n".join(self._closing)
        if final_calls:
            self.ending = self._end_by_final_tool(final_calls[-1], words, calls)
        elif words:
            self.ending = self._end_by_words("closing-words", words, calls)
        else:
            self._complete_steps(calls)
            self.ending = Ending(rule="unfinished")

    def _end_by_final_tool(self, final: OpenCall, words: str, calls: list[OpenCall]) -> Ending:
        """Decide the ending of a run whose agent called a final tool."""
        given = arguments_of(final.call)
        sql = query_in(given)
        values = list(given.values()) if isinstance(given, dict) else [given]
        texts = [as_text(value) for value in values if value is not None and value != sql]
        texts = [text for text in texts if not says_nothing(text)]
        words = "\n".join([*filter(None, [final.thought]), *texts, *filter(None, [words])])
        if sql is not None:
            return self._end_by_final_query(sql, words, final, calls)
        if not texts:
            return self._end_with_abstention("final-tool-null", words, calls)
        return self._end_by_words("final-tool", words, calls)

    def _end_by_final_query(
        self, sql: str, words: str, final: OpenCall, calls: list[OpenCall]
    ) -> Ending:
        ran = [call for call in calls if call.sql and same_form(call.sql) == same_form(sql)]
        same = next((call for call in reversed(ran) if ran_well(self._step_of(call))), None)
        if same is not None:
            return self._end_with_answer("final-tool-query", same, words, calls)
        self._complete_steps(calls)
        observation = self._observe(final.result, sql)
        if observation.kind == "rows" and observation.rows is None:
            # The tool returned "submitted" or the like, which is no result of the query.
            observation = Observation(kind="none")
        self._add("final_sql", final.thought, sql, observation, reply=words)
        known = observation.kind in ("rows", "empty")
        value = final.result.content if known and final.result else None
        return Ending(
            rule="final-tool-query" if known else "final-tool-not-run", text=words, value=value
        )

    def _end_by_words(self, rule: Rule, words: str, calls: list[OpenCall]) -> Ending:
        """Decide the ending of a run that ended in words."""
        newest = self._newest()
        if newest is None:
            asked = [call for call in calls if call.sql]
            ran = any(ran_well(self._step_of(call)) for call in asked)
            why: Rule = "catalog-alone" if ran else "no-query-ran" if asked else "no-query"
            return self._end_with_abstention(why, words, calls)
        step = self._step_of(newest)
        if declines(words, question=self.question, answer=step):
            return self._end_with_abstention("declined-after-query", words, calls)
        if not states_result(words, question=self.question, answer=step):
            self.notes[_UNSTATED] += 1
        return self._end_with_answer(rule, newest, words, calls)

    def _end_with_answer(
        self, rule: Rule, by: OpenCall, words: str, calls: list[OpenCall]
    ) -> Ending:
        step = self._step_of(by)
        if by is calls[-1]:
            self._add("final_sql", step.thought, step.sql, step.observation, reply=words)
        else:
            # The step is complete already, so the answer states its query again.
            self._complete_steps(calls)
            self._add("final_sql", None, step.sql, step.observation, reply=words)
        return Ending(rule=rule, text=words, value=by.result.content if by.result else None)

    def _end_with_abstention(self, rule: Rule, words: str, calls: list[OpenCall]) -> Ending:
        self._complete_steps(calls)
        self._add(
            "final_null", one_line(words, _LONGEST_WORDS) or None, None, Observation(kind="none")
        )
        return Ending(rule=rule, text=words)

    def _final_calls(self) -> list[OpenCall]:
        """Return the calls of final tools at the end of the run so far."""
        at = len(self._calls)
        while at and self._calls[at - 1].final:
            at -= 1
        return self._calls[at:]

    def _newest(self) -> OpenCall | None:
        """Return the newest query over the data that ran without an error."""
        for call in reversed(self._calls):
            if call.sql and not reads_only_catalog(call.sql) and ran_well(self._step_of(call)):
                return call
        return None

    def _emit(self) -> None:
        """Complete the steps that are exploratory because a later call follows."""
        until = len(self._calls) - len(self._final_calls()) - 1
        while self._emitted < until and self._calls[self._emitted].settled:
            self._complete_steps([self._calls[self._emitted]], whole=False)

    def _complete_steps(self, calls: list[OpenCall], *, whole: bool = True) -> None:
        for call in calls[self._emitted :] if whole else calls:
            step = self._step_of(call)
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

    def _step_of(self, call: OpenCall) -> Step:
        if call.step is not None:
            return call.step
        shown = None
        if call.sql is None:
            arguments = one_line(as_text(arguments_of(call.call)), _LONGEST_WORDS)
            shown = f"CALL: {call.call.name} {arguments}"
        built = Step(
            index=1,
            thought=call.thought,
            action="sql",
            sql=call.sql,
            observation=self._observe(call.result, call.sql),
            reply=shown,
        )
        if call.settled:
            call.step = built
        return built

    def _observe(self, result: ToolResult | None, sql: str | None) -> Observation:
        if result is None:
            return Observation(kind="none")
        if sql is None:
            return Observation(kind="none", text=one_line(as_text(result.content), _LONGEST_WORDS))
        observation = read_value(result.content, failed=result.failed)
        if observation.kind == "rows" and observation.rows is None:
            self.notes["a result that is no list of rows: kept as text"] += 1
        return observation

    def _settle_without_result(self, call: OpenCall) -> None:
        if not call.settled:
            call.settled = True
            if not call.final:
                self.notes["a tool call without a result"] += 1

    def _unread_sql(self) -> str | None:
        """Return where a run holds SQL that isn't read, if no call with SQL was read."""
        if any(call.sql for call in self._calls) or any(
            query_in(arguments_of(call.call)) for call in self._final_calls()
        ):
            return None
        for call in self._calls:
            if hides_sql(call):
                name = one_line(call.call.name, 60)
                return f"the tool {name} gets SQL that isn't read; give --sql-tool {name}:ARGUMENT"
        if self._sql_said:
            return "the agent's words hold SQL, but no call that runs SQL was read; check --format"
        return None
