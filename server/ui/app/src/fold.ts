import { changed, type Change } from "./board";
import { argsLine, excerpt, far, goDuration, instant, money, now, number, oneLine, plural, statusWords } from "./format";
import { spoken } from "./said";
import type { Entry, Graph } from "./types";

// The state of a log in the form in which it is drawn. Folding an entry takes constant
// time.

export type Kind = "think" | "judge" | "act" | "wait" | "see" | "note" | "run" | "bad";

/** A Seg is a stretch of a row's time. Without an end it is still going on. */
export interface Seg {
  t0: number;
  t1: number | null;
  kind: "run" | "wait" | "fail" | "retry";
  first?: number; // time of the reply's first piece
  label?: string;
}

export interface Span {
  id: string;
  kind: Kind;
  iteration: number;
  seq: number; // its first entry
  entries: Entry[];
  segs: Seg[]; // empty: an instant
  t0: number;
  t1: number; // its latest entry
  name: string;
  text: string;
  state: "" | "open" | "ok" | "bad" | "held" | "refused" | "left";
  who: string; // the person who decided, as in "approved by ada"
  tokens: number;
  cost: number;
  call?: string;
  child?: string;
  model?: Entry; // the latest model.called of a think
  quiet?: boolean; // bookkeeping, shown on demand
  saying?: { by: string; text: string }; // what its run says just now
  progress?: { fraction?: number; text?: string }; // how far the call is just now
}

export interface Turn {
  iteration: number;
  spans: Span[];
  t0: number;
  t1: number;
  said: string;
  input: number;
  cached: number;
  output: number;
  cost: number;
  bad: number;
  waited: boolean;
  open: number;
}

export interface Limits {
  iterations?: number;
  tokens?: number;
  time?: number; // milliseconds
  cost?: number;
}

export class Log {
  entries: Entry[] = [];
  times: number[] = [];
  turns: Turn[] = [];
  start: any = null;
  board: Change[] = [];
  private steps = new Map<string, { call: string; step: string }>(); // by id
  limits: Limits = {};
  stop = "";
  input = 0;
  cached = 0;
  output = 0;
  cost = 0;
  priced = false;
  childTokens = 0;
  iterations = 0;
  elapsed = 0; // running time according to the entries
  turning = false; // it has an owner
  status = "";
  graph: Graph | null = null;
  children: { call: string; run: string; agent: string; status: string }[] = [];
  /** The text of a reply that is being made. */
  live: { text: string; thinking: string; tools: string[]; withdrawn: string } | null = null;
  /** still says of each entry whether nothing is in flight behind it: a fork can begin there. */
  still: boolean[] = [];
  private running = new Set<string>(); // ids of running calls; "" for the model
  /** forked is the run that this one is a fork of, the latest if there are several. */
  forked: { from: string; seq: number } | null = null;
  private calls = new Map<string, Span>();
  private thinking: Span | null = null;
  private thought: Span | null = null; // the latest, for another attempt
  private pause: Span | null = null;

  get last(): number {
    return this.entries.length ? this.entries[this.entries.length - 1].seq : 0;
  }

  get ended(): boolean {
    return this.entries.length > 0 && this.entries[this.entries.length - 1].type === "run.stopped";
  }

  get t0(): number {
    return this.times[0] ?? 0;
  }

  get t1(): number {
    return this.times[this.times.length - 1] ?? 0;
  }

  call(id: string): Span | undefined {
    return this.calls.get(id);
  }

  /** step is the latest call that a step of a workflow or a graph made. */
  step(id: string): { span?: Span; round: number } | undefined {
    const c = this.steps.get(id);
    return c && { span: this.call(c.call), round: Number(c.step.split("@")[1]) || 1 };
  }

  /** turn is the one with a number: they are sorted, and asked for mostly at the end. */
  turn(iteration: number): Turn | undefined {
    let lo = 0;
    let hi = this.turns.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (this.turns[mid].iteration < iteration) lo = mid + 1;
      else hi = mid;
    }
    return this.turns[lo]?.iteration === iteration ? this.turns[lo] : undefined;
  }

  add(e: Entry): void {
    if (e.seq <= this.last) return;
    const t = instant(e.time);
    if (this.turning && this.times.length) this.elapsed += t - this.t1;
    this.entries.push(e);
    this.times.push(t);
    this.iterations = Math.max(this.iterations, e.iteration);
    this.fold(e, t, e.data ?? {});
    this.track(e.type, e.data ?? {});
  }

  // track follows what is in progress, as the engine does before it forks a run.
  private track(type: string, d: any): void {
    switch (type) {
      case "model.called":
        this.running.add("");
        break;
      case "model.replied":
      case "model.failed":
        this.running.delete("");
        break;
      case "tool.started":
      case "child.started":
        this.running.add(d.call);
        break;
      case "child.stopped":
        if (d.status !== "interrupted") this.running.delete(d.call);
        break;
      case "run.resumed":
      case "run.forked":
        this.running.clear();
        break;
      default:
        if (d.call && lands.test(type)) this.running.delete(d.call);
    }
    this.still.push(this.running.size === 0);
  }

  /** forks are the nearest entries at which a run can be forked, the best first: the one that is asked for, or else those beside it. */
  forks(seq: number): number[] {
    const i = Math.min(Math.max(seq, 1), this.entries.length) - 1;
    if (this.still[i]) return [i + 1];
    const before = this.still.lastIndexOf(true, i);
    const after = this.still.indexOf(true, i);
    const both = [after, before].filter((n) => n >= 0);
    return both.sort((a, b) => Math.abs(a - i) - Math.abs(b - i)).map((n) => n + 1);
  }

  delta(e: Entry): void {
    const d = e.data ?? {};
    if (d.agent) { // of a child run
      const c = this.children.find((c) => e.run === c.run || e.run.startsWith(`${c.run}.`));
      const s = c && this.call(c.call);
      if (s && e.type === "tool.progressed") s.saying = { by: `${d.agent}: ${d.tool}`, text: far(d) };
      else if (s) s.saying = { by: d.agent, text: ((d.from && s.saying?.text) || "").slice(-2000) + (d.text ?? "") };
      return;
    }
    if (e.type === "tool.progressed") {
      const s = this.call(d.call);
      if (s?.state === "open") s.progress = d;
      return;
    }
    if (!this.live || this.live.withdrawn) this.live = { text: "", thinking: "", tools: [], withdrawn: "" };
    this.live.text += d.text ?? "";
    this.live.thinking += d.thinking ?? "";
    if (d.tool) this.live.tools.push(d.tool);
    const seg = this.thinking?.segs.at(-1);
    if (seg && seg.first === undefined) seg.first = Date.parse(e.time) || now();
  }

  private open(e: Entry, t: number, kind: Kind, name: string, text = ""): Span {
    let turn = this.turns[this.turns.length - 1];
    if (!turn || turn.iteration < e.iteration) {
      turn = { iteration: e.iteration, spans: [], t0: t, t1: t, said: "", input: 0, cached: 0, output: 0, cost: 0, bad: 0, waited: false, open: 0 };
      this.turns.push(turn);
    }
    const s: Span = { id: `${e.seq}.${name}`, kind, iteration: turn.iteration, seq: e.seq, entries: [e], segs: [], t0: t, t1: t, name, text, state: "", who: "", tokens: 0, cost: 0 };
    turn.spans.push(s);
    turn.t1 = Math.max(turn.t1, t);
    return s;
  }

  private more(s: Span, e: Entry, t: number): void {
    if (s.entries[s.entries.length - 1] !== e) s.entries.push(e);
    s.t1 = t;
    const turn = this.turn(s.iteration);
    if (turn) turn.t1 = Math.max(turn.t1, t);
  }

  private close(s: Span, t: number, kind?: Seg["kind"]): void {
    const g = s.segs[s.segs.length - 1];
    if (g && g.t1 === null) {
      g.t1 = t;
      if (kind) g.kind = kind;
    }
  }

  private begin(s: Span, t: number, kind: Seg["kind"], label?: string): void {
    this.close(s, t);
    s.segs.push({ t0: t, t1: null, kind, label });
  }

  private forCall(e: Entry, t: number): Span {
    const id = e.data.call ?? "";
    let s = this.calls.get(id);
    if (!s) {
      s = this.open(e, t, "act", e.data.tool ?? "question", argsLine(e.data.args));
      s.call = id;
      this.calls.set(id, s);
    } else this.more(s, e, t);
    return s;
  }

  private book(s: Span | null, e: Entry, usage: any, cost: number | null | undefined): void {
    if (!usage) return;
    const turn = this.turn(e.iteration);
    const input = usage.input_tokens ?? 0;
    const cached = usage.cache_read_tokens ?? 0;
    const output = usage.output_tokens ?? 0;
    this.input += input;
    this.cached += cached;
    this.output += output;
    if (typeof cost === "number") {
      this.cost += cost;
      this.priced = true;
    }
    if (turn) {
      turn.input += input;
      turn.cached += cached;
      turn.output += output;
      turn.cost += cost ?? 0;
    }
    if (s) {
      s.tokens += input + output;
      s.cost += cost ?? 0;
    }
  }

  private bad(e: Entry): void {
    const turn = this.turn(e.iteration);
    if (turn) turn.bad++;
  }

  private restrict(l: any): void {
    if (!l) return;
    if (l.iterations) this.limits.iterations = l.iterations;
    if (l.tokens) this.limits.tokens = l.tokens;
    if (l.cost) this.limits.cost = l.cost;
    if (l.time) this.limits.time = goDuration(l.time);
  }

  private fold(e: Entry, t: number, d: any): void {
    switch (e.type) {
      case "run.started":
        this.start = d;
        this.restrict(d.limits);
        this.stop = d.stop ?? "";
        this.turning = true;
        this.status = "running";
        this.open(e, t, "run", "started", spoken(d.input ?? ""));
        return;
      case "run.resumed": {
        if (d.changed) this.start = { ...this.start, ...d.changed };
        this.turning = true;
        this.status = "running";
        if (this.pause) {
          this.close(this.pause, t);
          this.more(this.pause, e, t);
          this.pause = null;
        }
        const lost = this.thinking;
        if (lost) {
          this.close(lost, t, "fail");
          lost.state = "bad";
          lost.text = "lost with its owner";
          this.thinking = null;
        }
        this.open(e, t, "run", "resumed", lost ? "its owner was gone; the interrupted model call is repeated" : d.changed ? "with a changed agent" : "by a new owner");
        return;
      }
      case "run.paused": {
        this.turning = false;
        this.status = d.status;
        const s = this.open(e, t, "wait", statusWords[d.status] ?? "paused", d.reason ?? "");
        s.state = "held";
        this.begin(s, t, "wait");
        this.pause = s;
        this.turn(s.iteration)!.waited = true;
        return;
      }
      case "run.stopped": {
        this.turning = false;
        this.status = d.status;
        // Open requests are void.
        for (const c of this.calls.values()) {
          if (c.segs.at(-1)?.t1 !== null) continue;
          this.close(c, t);
          c.state = "left";
        }
        const s = this.open(e, t, d.status === "failed" || d.status === "plan_failed" ? "bad" : "run", statusWords[d.status] ?? d.status, d.leaf ? `${d.leaf}: ${d.detail}` : d.detail);
        s.state = d.status === "success" ? "ok" : "";
        return;
      }
      case "run.extended":
        this.restrict(d.limits);
        if (d.stop) this.stop = d.stop;
        this.open(e, t, "run", "extended", [...Object.entries(d.limits ?? {}).map(([k, v]) => `${k} ${v}`), d.stop ? `stop ${d.stop}` : ""].filter(Boolean).join(", "));
        return;
      case "run.forked":
        this.turning = true;
        this.status = "running";
        if (this.pause) {
          this.close(this.pause, t);
          this.pause = null;
        }
        this.forked = { from: d.from, seq: d.seq };
        this.open(e, t, "run", "forked", `from entry ${d.seq} of ${d.from}${d.input ? `: ${excerpt(d.input)}` : ""}`).who = d.by ? by("forked", d) : "";
        return;
      case "model.called": {
        const purpose = d.purpose ?? "turn";
        let s = this.thinking ?? this.thought;
        this.live = null;
        if (!s || d.attempt <= 1 || s.name !== purpose || s.iteration !== e.iteration) {
          s = this.open(e, t, purpose === "turn" || purpose === "landing" ? "think" : "judge", purpose, d.step ?? "");
        } else this.more(s, e, t);
        s.model = e;
        s.state = "open";
        this.begin(s, t, "run", d.attempt > 1 ? `attempt ${d.attempt}` : undefined);
        this.thinking = this.thought = s;
        return;
      }
      case "model.replied": {
        const s = this.thinking ?? this.open(e, t, "think", d.purpose ?? "turn");
        this.more(s, e, t);
        this.close(s, t);
        s.state = d.malformed ? "bad" : "ok";
        const calls = (d.calls ?? []) as any[];
        s.text = spoken(d.text || "") || excerpt(d.thinking || "") || (calls.length ? `calls ${calls.map((c) => c.tool).join(", ")}` : "nothing said");
        this.book(s, e, d.usage, d.cost_usd);
        this.thinking = null;
        this.live = null;
        if ((d.purpose ?? "turn") === "turn") {
          const turn = this.turn(s.iteration);
          if (turn) turn.said = s.text;
          for (const h of (d.hosted ?? []) as any[]) {
            const span = this.open(e, t, "act", h.tool, argsLine(h.args));
            Object.assign(span, { id: `${e.seq}.${h.call}`, call: h.call, state: h.error ? "bad" : "ok", who: "the provider" });
            this.calls.set(h.call, span);
          }
          for (const c of calls) {
            const span = this.open(e, t, "act", c.tool, argsLine(c.args));
            span.id = `${e.seq}.${c.call}`;
            span.call = c.call;
            span.state = "open";
            this.calls.set(c.call, span);
          }
        }
        return;
      }
      case "model.failed": {
        const s = this.thinking ?? this.open(e, t, "think", d.purpose ?? "turn");
        this.more(s, e, t);
        this.close(s, t, "fail");
        s.state = "bad";
        s.text = `${d.class}: ${excerpt(d.message ?? "")}`;
        this.book(s, e, d.usage, d.cost_usd);
        this.bad(e);
        if (this.live) this.live = { ...this.live, withdrawn: d.class || "failed" };
        if (d.retry_at) s.segs.push({ t0: t, t1: null, kind: "retry", label: "waits before the retry" });
        else this.thinking = null;
        return;
      }
      case "plan.rejected":
        this.bad(e);
        this.open(e, t, "bad", "reply rejected", (d.reasons ?? []).join("; ")).state = "bad";
        return;
      case "tool.started": {
        const s = this.forCall(e, t);
        s.state = "open";
        if (d.args !== undefined) s.text = argsLine(d.args);
        this.begin(s, t, "run", d.attempt > 1 ? `attempt ${d.attempt}` : undefined);
        return;
      }
      case "tool.finished": {
        const s = this.forCall(e, t);
        if (d.duration_ms && !s.segs.length) s.segs.push({ t0: t - d.duration_ms, t1: t, kind: "run" });
        s.progress = undefined;
        this.close(s, t, d.status === "ok" ? undefined : "fail");
        s.state = d.status === "ok" ? "ok" : "bad";
        if (d.status !== "ok") this.bad(e);
        return;
      }
      case "tool.reused":
        this.forCall(e, t).state = "ok";
        return;
      case "tool.refused": {
        const s = this.forCall(e, t);
        this.close(s, t);
        s.state = "refused";
        return;
      }
      case "tool.doubted": {
        const s = this.forCall(e, t);
        s.progress = undefined;
        this.close(s, t, "fail");
        this.begin(s, t, "wait", "unknown whether it took place");
        s.state = "held";
        this.bad(e);
        return;
      }
      case "tool.settled": {
        const s = this.forCall(e, t);
        this.close(s, t);
        s.state = d.happened ? (d.status && d.status !== "ok" ? "bad" : "ok") : "open";
        s.who = by("settled", d);
        return;
      }
      case "approval.requested":
      case "input.requested":
      case "client_tool.requested": {
        const s = this.forCall(e, t);
        s.state = "held";
        s.who = "";
        if (d.question) s.text = excerpt(d.question);
        this.begin(s, t, "wait", waits[e.type]);
        this.turn(s.iteration)!.waited = true;
        return;
      }
      case "approval.decided": {
        const s = this.forCall(e, t);
        this.close(s, t);
        s.state = d.decision === "approve" ? "open" : "refused";
        s.who = by(d.decision === "approve" ? "approved" : "denied", d);
        return;
      }
      case "approval.expired":
      case "approval.invalidated":
        this.close(this.forCall(e, t), t);
        this.forCall(e, t).who = e.type === "approval.expired" ? "not decided in time" : "approval void";
        return;
      case "input.given":
      case "client_tool.returned": {
        if (!d.call) { // nobody asked
          this.open(e, t, "run", d.after ? "said, for later" : "said", [d.by && `by ${d.by}`, d.text].filter(Boolean).join(": "));
          return;
        }
        const s = this.forCall(e, t);
        this.close(s, t);
        s.state = "ok";
        s.who = by(e.type === "input.given" ? "answered" : "returned", d);
        return;
      }
      case "child.started": {
        const s = this.forCall(e, t);
        s.child = d.child;
        s.name = d.agent ? `${d.agent}` : s.name;
        const c = this.children.find((c) => c.run === d.child);
        if (c) c.status = "running";
        else this.children.push({ call: d.call, run: d.child, agent: d.agent, status: "running" });
        if (s.segs.at(-1)?.t1 !== null) this.begin(s, t, "run");
        s.state = "open";
        return;
      }
      case "child.stopped": {
        const s = this.forCall(e, t);
        const c = this.children.find((c) => c.run === d.child);
        if (c) c.status = d.status;
        this.book(s, e, d.usage, d.unpriced ? null : d.cost_usd);
        s.saying = undefined;
        if (d.status?.startsWith("waiting")) {
          this.begin(s, t, "wait", statusWords[d.status]);
          s.state = "held";
        } else this.close(s, t);
        return;
      }
      case "observed":
        this.open(e, t, "see", "observed", excerpt(d.text ?? "")).state = d.failed ? "bad" : "";
        return;
      case "measured":
        this.open(e, t, "see", "measured", `${d.value}${d.open?.length ? `, open: ${excerpt(d.open.join(", "))}` : ""}`);
        return;
      case "reflected":
        this.open(e, t, "judge", "reflected", `confidence ${d.confidence}: ${excerpt(d.text ?? "")}`);
        return;
      case "grounded": {
        const claims = excerpt((d.claims ?? []).join("; "));
        const s = this.open(e, t, "judge", "grounded", claims ? `unsupported: ${claims}` : "nothing in the answer is unsupported");
        s.state = d.ok ? "ok" : "bad";
        return;
      }
      case "progress.judged":
        this.open(e, t, "judge", d.judgement ?? "judged", excerpt(d.detail ?? "")).state = d.judgement === "regressed" || d.judgement === "repeating" ? "bad" : "";
        return;
      case "causes.found":
        this.graph = d.graph;
        this.open(e, t, "judge", "causes", d.graph?.edges?.length ? `results were used ${plural(d.graph.edges.length, "time")}` : "no result was used");
        return;
      case "cancel.requested":
        if (d.call) {
          this.forCall(e, t).who = by("cancelled", d);
          return;
        }
        this.open(e, t, "run", "cancel asked", [d.by && `by ${d.by}`, d.reason].filter(Boolean).join(": "));
        return;
      case "context.compacted":
        this.open(e, t, "note", "compacted", `entries ${d.from}–${d.to}${d.masked?.length ? `, ${plural(d.masked.length, "result")} left out` : ""}${d.summary ? ", summarised" : ""}${d.why ? ` (${d.why})` : ""}`);
        return;
      case "memory.stored":
        this.open(e, t, "note", "remembered", `${d.key} = ${oneLine(d.value)}`);
        return;
      case "instructions.given":
        this.open(e, t, "note", "instructions", excerpt(d.text));
        return;
      case "notice.given":
        this.open(e, t, "note", `notice of ${d.about}`, d.text);
        return;
      case "progress.logged":
        this.open(e, t, "note", "progress", excerpt(d.message ?? ""));
        return;
      case "hook.directed":
        this.open(e, t, "note", `hook ${d.hook}`, [d.direction, d.reason].filter(Boolean).join(": "));
        return;
      case "noted": {
        if (d.by === "__board__") {
          this.board.push(d.value);
          this.open(e, t, "note", "board", changed(d.value));
          return;
        }
        const s = this.open(e, t, "note", "noted", `${d.by} ${d.name} = ${oneLine(d.value)}`);
        s.quiet = true;
        if (d.by === "__loop__") for (const c of d.value ?? []) this.steps.set(String(c.step ?? "").split("@")[0], c);
        return;
      }
      default:
        this.open(e, t, "note", e.type, oneLine(d));
    }
  }
}

const waits: Record<string, string> = {
  "approval.requested": "waits for approval",
  "input.requested": "waits for an answer",
  "client_tool.requested": "waits for the client",
};

// Events that answer or suspend a call.
const lands = /^(tool\.(finished|reused|refused|doubted|settled)|approval\.|input\.|client_tool\.)/;

function by(what: string, d: any): string {
  return `${what} by ${d.by || "somebody"}${d.permission ? `, permission ${d.permission}` : ""}`;
}

/** usageLine says what a span or turn used. */
export function usageLine(tokens: number, cost: number): string {
  return [tokens ? `${number(tokens)} tokens` : "", cost ? money(cost) : ""].filter(Boolean).join(" · ");
}

/** busy is how long something took, its waits not counted. */
export function busy(s: Span, now: number): number {
  return s.segs.reduce((sum, g) => (g.kind === "wait" || g.kind === "retry" ? sum : sum + (g.t1 ?? now) - g.t0), 0);
}
