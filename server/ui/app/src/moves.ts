import type { Entry } from "./types";

// What a log says was done, without when, by which process and at what cost: two
// runs are the same as long as these are.

export interface Move { seq: number; iteration: number; what: string; text: string }

const show = (v: unknown) => (typeof v === "string" ? v : JSON.stringify(v, null, 2));

function move(e: Entry): Move | null {
  const d = e.data;
  const m = (what: string, ...parts: unknown[]) => ({ seq: e.seq, iteration: e.iteration, what, text: parts.filter((p) => p !== undefined && p !== null && p !== "").map(show).join("\n") });
  switch (e.type) {
    case "run.started": return m("Input", d.input);
    case "run.forked": return d.input ? m("Additional message", d.input) : null;
    case "model.replied": return m(d.purpose ? `Reply (${d.purpose})` : "Reply", d.text, ...(d.calls ?? []).map((c: any) => `${c.tool} ${show(c.args)}`));
    case "tool.settled": return d.happened ? m(`Result of ${d.tool}`, d.error ? d.status ?? "error" : "", d.result, d.error) : m(`Settled ${d.tool}`, "it did not happen");
    case "tool.finished": return m(`Result of ${d.tool}`, d.status === "ok" ? "" : d.status, d.result, d.error);
    case "tool.refused": return d.early ? null : m(`Refused call of ${d.tool}`, d.why);
    case "approval.decided": return m("Decision", d.decision, d.args, d.reason);
    case "input.given": return m(d.call ? "Answer of a person" : "Message of a person", d.text);
    case "run.stopped": return m("End", d.status ?? "success", d.leaf, d.detail);
  }
  return null;
}

// Calls that run side by side end in any order: their results are compared in the order
// of the calls.
function moves(log: Entry[]): Move[] {
  const out: Move[] = [];
  let side: { call: string; m: Move }[] = [];
  const flush = () => {
    out.push(...side.sort((a, b) => a.call.localeCompare(b.call, "en", { numeric: true })).map((s) => s.m));
    side = [];
  };
  const tools = new Map<string, string>();
  for (const each of log) {
    let e = each;
    for (const c of (e.type === "model.replied" && e.data.calls) || []) tools.set(c.call, c.tool);
    if (e.type === "tool.settled") e = { ...e, data: { ...e.data, tool: tools.get(e.data.call) ?? "" } };
    const m = move(e);
    if (!m) continue;
    if (e.type === "tool.finished" || (e.type === "tool.settled" && e.data.happened)) side.push({ call: String(e.data.call), m });
    else {
      flush();
      out.push(m);
    }
  }
  flush();
  return out;
}

/** diverge is the first difference of what two logs did; null: there is none. */
export function diverge(left: Entry[], right: Entry[]): { same: number; a?: Move; b?: Move } | null {
  const [a, b] = [moves(left), moves(right)];
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    if (a[i]?.what !== b[i]?.what || a[i]?.text !== b[i]?.text) return { same: i, a: a[i], b: b[i] };
  }
  return null;
}
