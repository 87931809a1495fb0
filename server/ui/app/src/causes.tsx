import type { Log } from "./fold";
import { Text } from "./text";
import type { Graph } from "./types";

const COL = 190;
const ROWH = 58;
const NW = 138;
const NH = 36;

/** Causes draws what led to what: calls by iteration from left to right, the answer last. */
export function Causes({ log, open }: { log: Log; open: (tab: string, seq?: number) => void }) {
  const g = log.graph;
  if (!g) return <div class="empty">This run looked for no causes. An agent does when its spec says <code>judge: {"{causal: true}"}</code>, as its last fact before it ends.</div>;
  if (!g.nodes?.length) return <div class="empty">No result of a call stands in another call's arguments or in the answer.</div>;
  const columns = layout(g);
  const pos = new Map<string, { x: number; y: number }>();
  columns.forEach((c, x) => c.forEach((id, y) => pos.set(id, { x: 12 + x * COL, y: 12 + y * ROWH })));
  const width = columns.length * COL - (COL - NW) + 24;
  const height = Math.max(...columns.map((c) => c.length)) * ROWH + 12;
  const name = new Map(g.nodes.map((n) => [n.id, n]));
  const pick = (id: string) => {
    const s = log.call(id);
    if (s) open("timeline", s.seq);
  };
  return (
    <div class="causes">
      <div class="scroll-x" tabIndex={0} role="group" aria-label="Graph, the table below says the same">
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${g.edges.length} uses of results`}>
          <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0l8 4-8 4z" /></marker></defs>
          {g.edges.map((e) => {
            const a = pos.get(e.from);
            const b = pos.get(e.to);
            if (!a || !b) return null;
            const x1 = a.x + NW;
            const y1 = a.y + NH / 2;
            const y2 = b.y + NH / 2;
            const m = Math.max(24, (b.x - x1) / 2);
            return <path key={`${e.from}-${e.to}`} class="edge" marker-end="url(#tip)" d={`M${x1} ${y1}C${x1 + m} ${y1} ${b.x - m} ${y2} ${b.x - 2} ${y2}`}><title>{e.values.join(", ")}</title></path>;
          })}
          {[...pos].map(([id, p]) => {
            const n = name.get(id)!;
            const answer = id === "answer";
            return (
              <g key={id} class={`node ${answer ? "answer" : ""}`} transform={`translate(${p.x} ${p.y})`} onClick={() => pick(id)}>
                <rect width={NW} height={NH} rx="4" />
                <text x="10" y={answer ? 22 : 15}>{answer ? "the answer" : cut(n.tool ?? id, 18)}</text>
                {!answer && <text x="10" y="29" class="sub">{id}{n.iteration ? ` · iteration ${n.iteration}` : ""}</text>}
              </g>
            );
          })}
        </svg>
      </div>
      <section>
        <h2>What was used where</h2>
        <table class="plain">
          <thead><tr><th scope="col">A result of</th><th scope="col">was used in</th><th scope="col">as</th></tr></thead>
          <tbody>
            {g.edges.map((e) => (
              <tr key={`${e.from}-${e.to}`}>
                <td><Name id={e.from} g={g} pick={pick} /></td>
                <td><Name id={e.to} g={g} pick={pick} /></td>
                <td class="mono"><Text of={e.values.join(", ")} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {!!g.cycles?.length && <section><h2>Going in circles</h2><ul>{g.cycles.map((c) => <li key={c.calls.join()}>{c.calls.join(" → ")}</li>)}</ul></section>}
      {!!g.contradictions?.length && <section><h2>Contradictions</h2><ul>{g.contradictions.map((c) => <li key={c.first + c.then}><b><Text of={c.tool} /></b> said <q><Text of={c.was} /></q> in {c.first}, then <q><Text of={c.is} /></q> in {c.then}</li>)}</ul></section>}
    </div>
  );
}

function Name({ id, g, pick }: { id: string; g: Graph; pick: (id: string) => void }) {
  if (id === "answer") return <>the answer</>;
  return <button type="button" class="link" onClick={() => pick(id)}><Text of={g.nodes.find((n) => n.id === id)?.tool ?? ""} /> <span class="mono id">{id}</span></button>;
}

// layout puts each node right of all that led to it.
function layout(g: Graph): string[][] {
  const into = new Map<string, string[]>();
  for (const e of g.edges) into.set(e.to, [...(into.get(e.to) ?? []), e.from]);
  const depth = new Map<string, number>();
  const at = (id: string, seen: Set<string>): number => {
    const d = depth.get(id);
    if (d !== undefined) return d;
    if (seen.has(id)) return 0;
    seen.add(id);
    const n = Math.max(-1, ...(into.get(id) ?? []).map((f) => at(f, seen))) + 1;
    depth.set(id, n);
    return n;
  };
  for (const n of g.nodes) at(n.id, new Set());
  const last = Math.max(...depth.values());
  if (depth.has("answer")) depth.set("answer", Math.max(last, [...depth].some(([id, d]) => id !== "answer" && d === last) ? last + (depth.get("answer") === last && [...depth].filter(([, d]) => d === last).length > 1 ? 1 : 0) : last));
  const out: string[][] = [];
  for (const n of g.nodes) (out[depth.get(n.id)!] ??= []).push(n.id);
  return out.filter(Boolean);
}

function cut(s: string, n: number): string {
  return s.length > n ? `${s.slice(0, n - 1)}…` : s;
}
