"use strict";
// Updates everything that depends on the stakes, and shows one run at a time. All texts of runs are
// set by textContent, so that they are never parsed as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const slider = document.getElementById("stakes");
const early = document.getElementById("early");

const KIND = {
  refuse: "refuses before the agent runs",
  exit: "stops the run here",
  withhold: "withholds the answer",
  deliver: "delivers the answer",
};
const REASON = {
  unanswerable: "the question looks unanswerable",
  "unlikely-correct": "the run is unlikely to succeed",
  "above-bar": "confidence reaches the bar",
  "below-bar": "confidence is below the bar",
  "agent-abstained": "the agent itself gave no answer",
  "step-cap": "the agent reached its step limit",
  "stakes-too-high": "the monitor has too few calibration runs for a delivery at these stakes",
  "uncalibrated": "the monitor knows no run of this agent",
};
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const minus = (text) => text.replace("-", "−");
const share = (value) => `${Math.round(100 * value)} %`;
const number = (value, digits = 3) => minus(value.toFixed(digits));
const signed = (value) => (value >= 0 ? "+" : "") + number(value, 2);
const plain = (value) => minus(String(Number(value.toPrecision(4))));
const FORMS = { share, signed, plain };

function level() {
  return data.levels[Number(slider.value)];
}

// The rules of the guard, in their order, for one run at one λ.
function decide(view, agent, at, stopEarly) {
  if (agent.served !== null && data.levels[at] > agent.served) {
    return { kind: "refuse", reason: "stakes-too-high", t: 0 };
  }
  const last = view.states.length - 1;
  for (const state of view.states) {
    const t = state.t;
    if (agent.theta !== null && state.p_answerable < agent.theta) {
      const kind = t === 0 ? "refuse" : t === last ? "withhold" : "exit";
      return { kind, reason: "unanswerable", t, value: state.p_answerable, against: agent.theta, symbol: "θ" };
    }
    if (t === last) {
      if (view.ending === "abstention") return { kind: "withhold", reason: "agent-abstained", t };
      if (view.ending === "cap") return { kind: "withhold", reason: "step-cap", t };
      const bar = barOf(agent, at, state);
      const kind = state.delivery >= bar ? "deliver" : "withhold";
      return { kind, reason: kind === "deliver" ? "above-bar" : "below-bar", t, value: state.delivery, against: bar, symbol: "τ" };
    }
    const s = agent.early[at];
    if (stopEarly && s !== null && t >= 1 && state.p_correct < s) {
      return { kind: "exit", reason: "unlikely-correct", t, value: state.p_correct, against: s, symbol: "s" };
    }
  }
  throw new Error("a run without a state");
}

function barOf(agent, at, state) {
  const stakes = data.levels[at];
  return agent.exact ? (stakes + state.p_unanswerable) / (1 + stakes) : agent.bar[at];
}

function mistaken(view, decision) {
  if (view.correct === null) return false;
  return decision.kind === "deliver" ? !view.correct : view.correct;
}

function verdictOf(view, decision) {
  if (view.answerable === null) return "the truth is not known";
  if (decision.kind === "deliver") {
    if (view.correct) return "rightly: the answer is right";
    return view.answerable ? "wrongly: the answer is wrong" : "wrongly: there is no right answer";
  }
  if (view.correct) return "at a loss: the answer was right";
  if (!view.answerable) return "rightly: there is no right answer";
  return view.ending === "answer" ? "rightly: the answer was wrong" : "the agent had no answer";
}

function moveFigures() {
  const at = Number(slider.value);
  const stakes = level();
  const words = `λ = ${plain(stakes)}: a wrong answer costs ${plain(stakes)} times what a right one earns`;
  slider.setAttribute("aria-valuetext", words);
  document.getElementById("stakes-said").textContent = words;
  for (const place of document.querySelectorAll("[data-live]")) {
    const [agent, column] = place.dataset.live.split("/");
    const value = data.agents[Number(agent)].columns[column][at];
    place.dataset.value = value === null ? "" : String(value);
    place.textContent = value === null ? "–" : FORMS[place.dataset.form](value);
  }
  for (const place of document.querySelectorAll("[data-standing]")) {
    const standing = data.agents[Number(place.dataset.standing)].standing[at];
    place.textContent = data.standings[standing];
    place.dataset.value = standing;
  }
  for (const line of document.querySelectorAll("[data-mark]")) {
    line.style.left = `${(100 * (at + 0.5)) / data.levels.length}%`;
  }
}

function gauge(name, value, threshold, symbol) {
  const below = threshold !== null && value < threshold;
  const against = threshold === null ? "no threshold" : `${below ? "below" : "at or above"} ${symbol} ${number(threshold)}`;
  const bar = make("div", { class: "bar", role: "meter", "aria-label": name, "aria-valuemin": 0, "aria-valuemax": 1,
    "aria-valuenow": value, "aria-valuetext": `${number(value)}, ${against}` });
  const fill = make("div", { class: "fill" });
  fill.style.width = `${100 * value}%`;
  bar.append(fill);
  if (threshold !== null) {
    const mark = make("div", { class: "mark" });
    mark.style.left = `${100 * Math.min(1, Math.max(0, threshold))}%`;
    bar.append(mark);
  }
  return make("div", { class: below ? "gauge below" : "gauge" },
    make("div", { class: "name" }, make("span", {}, name), make("strong", {}, number(value))),
    bar, make("div", { class: "against" }, `${below ? "▼ " : ""}${against}`));
}

function whyOf(state) {
  const list = make("ul");
  if (state.unaccounted?.length) {
    const phrases = state.unaccounted.map((phrase) => `“${phrase}”`).join(", ");
    list.append(make("li", {}, `Nothing in the query accounts for ${phrases}.`));
  }
  for (const near of state.neighbours) {
    list.append(make("li", {}, near.words));
  }
  const parts = [make("summary", {}, "Why these confidences?"), list];
  for (const [head, said] of Object.entries(state.contributions ?? {})) {
    const chips = make("ul", { class: "chips" });
    for (const { name, value } of said) {
      chips.append(make("li", { class: value >= 0 ? "for" : "against" }, `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(2)} ${name}`));
    }
    parts.push(make("p", { class: "lead" }, data.heads[head]), chips);
  }
  if (state.features) {
    const features = Object.entries(state.features).map(([name, value]) => `${name} ${plain(value)}`);
    parts.push(make("p", { class: "small" }, `The confidence of this answer also depends on ten features: ${features.join(", ")}.`));
  }
  return make("details", {}, ...parts);
}

function textBlock(lead, text, code = false) {
  if (text === null) return null;
  const body = code ? make("pre", { class: "text" }, make("code", {}, text)) : make("p", { class: "text" }, text);
  return make("div", {}, make("p", { class: "lead" }, lead), body);
}

function stateOf(view, agent, at, state, decision) {
  const answered = state.delivery !== null;
  const shown = make("div", {});
  if (state.t === 0) {
    shown.append(make("p", { class: "text" }, "The question alone, before the agent runs."));
  } else {
    const lead = { final_sql: "Final SQL", final_null: "The agent abstains", invalid: "No valid action" }[state.action] ?? "SQL";
    shown.append(...[textBlock("Thought", state.thought), state.sql === null ? make("p", { class: "lead" }, lead) : textBlock(lead, state.sql, true),
      textBlock("Result", state.result, true)].filter((part) => part !== null));
  }
  shown.append(whyOf(state));
  const gauges = make("div", { class: "gauges" },
    gauge("answerable", state.p_answerable, agent.theta, "θ"),
    answered
      ? gauge("this answer is right", state.delivery, barOf(agent, at, state), "τ")
      : gauge("will be right", state.p_correct, early.checked ? agent.early[at] : null, "s"));
  const row = make("div", { class: state.t > decision.t ? "state later" : "state" },
    make("div", { class: "t" }, make("abbr", { title: `state after ${state.t} steps` }, `t=${state.t}`)), shown, gauges);
  if (state.t > decision.t) shown.prepend(make("p", { class: "lead" }, "never run under the guard"));
  return row;
}

function showRun(index) {
  const view = data.views[index];
  const agent = data.agents[view.agent];
  const at = Number(slider.value);
  const decision = decide(view, agent, at, early.checked);
  const place = document.getElementById("run");
  const opened = [...place.querySelectorAll("details")].map((each) => each.open && place.dataset.shown === String(index));
  const children = [make("h3", {}, view.question),
    make("p", { class: "small" }, `${agent.name} · run ${view.id} · `,
      view.answerable === null ? "not labelled" : view.answerable ? "answerable" : "unanswerable",
      view.ending === "answer" ? (view.correct === null ? "" : `, the agent alone answered ${view.correct ? "correctly" : "wrongly"}`)
        : view.ending === "abstention" ? ", the agent alone abstained" : ", the agent alone reached its step limit")];
  for (const state of view.states) {
    children.push(stateOf(view, agent, at, state, decision));
    if (state.t === decision.t) {
      const reason = decision.value === undefined ? REASON[decision.reason]
        : `${REASON[decision.reason]}: ${number(decision.value)} ${decision.value < decision.against ? "<" : "≥"} ${decision.symbol} ${number(decision.against)}`;
      const saved = view.states.length - 1 - state.t;
      const fault = mistaken(view, decision);
      children.push(make("div", { class: fault ? "stop" : "stop right", "data-kind": decision.kind, "data-reason": decision.reason, "data-t": state.t },
        `${fault ? "✗ " : ""}At λ = ${plain(level())} the guard ${KIND[decision.kind]}`,
        make("span", { class: "why" }, `${reason} – ${verdictOf(view, decision)}${saved ? ` · ${saved} step${saved > 1 ? "s" : ""} saved` : ""}`)));
    }
  }
  place.replaceChildren(...children);
  place.dataset.shown = String(index);
  place.querySelectorAll("details").forEach((each, number) => { each.open = Boolean(opened[number]); });
}

// Mistakes come first, the most confident wrong answers before all others; the rest keeps its order.
function ranked(entries) {
  const place = ({ fault, decision }) => !fault ? [2, 0] : decision.kind === "deliver" ? [0, -decision.value] : [1, decision.value ?? 2];
  return entries.map((entry) => [place(entry), entry])
    .sort(([a], [b]) => a[0] - b[0] || a[1] - b[1])
    .map(([, entry]) => entry);
}

function listRuns() {
  const list = document.getElementById("run-list");
  const at = Number(slider.value);
  const wanted = document.getElementById("filter").value;
  const whose = document.getElementById("whose")?.value ?? "";
  const focused = document.activeElement?.dataset?.view;
  const place = document.getElementById("run");
  const entries = ranked(data.views.map((view, index) => {
    const decision = decide(view, data.agents[view.agent], at, early.checked);
    return { view, index, decision, fault: mistaken(view, decision) };
  })).filter(({ view, decision, fault }) => (whose === "" || String(view.agent) === whose)
    && (wanted === "mistake" ? fault : wanted === "" || decision.kind === wanted));
  place.dataset.shown ??= String(entries[0].index);
  list.replaceChildren(...entries.map(({ view, index, decision, fault }) => {
    const sure = decision.value === undefined ? "" : ` (${number(decision.value)})`;
    const button = make("button", { type: "button", "data-view": index, "aria-current": String(index) === place.dataset.shown },
      make("span", {}, view.question),
      make("span", { class: "says" }, `${fault ? "✗ " : ""}${decision.kind}${sure} – ${verdictOf(view, decision)}`));
    button.addEventListener("click", () => {
      showRun(index);
      for (const each of list.querySelectorAll("button")) each.setAttribute("aria-current", each === button);
      if (window.innerWidth < 1000) place.scrollIntoView();
    });
    return make("li", {}, button);
  }));
  document.getElementById("run-count").textContent = `${entries.length} of ${data.views.length} runs`;
  list.querySelector(`[data-view="${focused}"]`)?.focus();
}

function move() {
  moveFigures();
  if (data.views.length) {
    if (document.getElementById("run-list")) listRuns();
    showRun(Number(document.getElementById("run").dataset.shown ?? 0));
  }
}

if (slider) {
  slider.addEventListener("input", move);
  early?.addEventListener("change", move);
  document.getElementById("filter")?.addEventListener("change", listRuns);
  document.getElementById("whose")?.addEventListener("change", listRuns);
  move();
}
