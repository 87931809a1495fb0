import type { Log } from "./fold";
import { NODE, place } from "./graph";
import { Text } from "./text";
import type { Graph } from "./types";

/** Causes draws what led to what: calls by iteration from left to right, the answer last. */
export function Causes({ log, open }: { log: Log; open: (tab: string, seq?: number) => void }) {
  const g = log.graph;
  if (!g) return <div class="empty">This run recorded no causes. Set <code>judge: {"{causal: true}"}</code> in the spec to record them at the end of a run.</div>;
  if (!g.nodes?.length) return <div class="empty">No result of a call was used in another call's arguments or in the answer.</div>;
  const { nodes, paths, width, height } = place(g, "answer");
  const name = new Map(g.nodes.map((n) => [n.id, n]));
  const pick = (id: string) => {
    const s = log.call(id);
    if (s) open("timeline", s.seq);
  };
  return (
    <div class="causes">
      <div class="scroll-x" tabIndex={0} role="group" aria-label="Graph; the table below has the same data">
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${g.edges.length} uses of results`}>
          <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0l8 4-8 4z" /></marker></defs>
          {g.edges.map((e, i) => <path key={`${e.from}-${e.to}`} class="edge" marker-end="url(#tip)" d={paths[i]}><title>{`${e.from} → ${e.to}: ${e.values.join(", ")}`}</title></path>)}
          {[...nodes].map(([id, p]) => {
            const n = name.get(id)!;
            const answer = id === "answer";
            const not = unmade(log, id);
            return (
              <g key={id} class={`node ${answer ? "answer" : ""} ${not}`} transform={`translate(${p.x} ${p.y})`} onClick={() => pick(id)}>
                <title>{[n.tool ?? "the answer", not].filter(Boolean).join(", ")}</title>
                <rect width={NODE.width} height={NODE.height} rx="4" />
                <text x="10" y={answer ? 22 : 15}>{answer ? "the answer" : cut(n.tool ?? id, 18)}</text>
                {!answer && <text x="10" y="29" class="sub">{id}{not ? ` · ${not}` : n.iteration ? ` · iteration ${n.iteration}` : ""}</text>}
              </g>
            );
          })}
        </svg>
      </div>
      <section>
        <h2>Uses of results</h2>
        <table class="plain">
          <thead><tr><th scope="col">A result of</th><th scope="col">was used in</th><th scope="col">as</th></tr></thead>
          <tbody>
            {g.edges.map((e) => (
              <tr key={`${e.from}-${e.to}`}>
                <td><Name id={e.from} g={g} log={log} pick={pick} /></td>
                <td><Name id={e.to} g={g} log={log} pick={pick} /></td>
                <td class="mono"><Text of={e.values.join(", ")} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {!!g.cycles?.length && <section><h2>Cycles</h2><ul>{g.cycles.map((c) => <li key={c.calls.join()}>{c.calls.join(" → ")}</li>)}</ul></section>}
      {!!g.contradictions?.length && <section><h2>Contradictions</h2><ul>{g.contradictions.map((c) => <li key={c.first + c.then}><b><Text of={c.tool} /></b> said <q><Text of={c.was} /></q> in {c.first}, then <q><Text of={c.is} /></q> in {c.then}</li>)}</ul></section>}
    </div>
  );
}

function Name({ id, g, log, pick }: { id: string; g: Graph; log: Log; pick: (id: string) => void }) {
  if (id === "answer") return <>the answer</>;
  const not = unmade(log, id);
  return <><button type="button" class="link" onClick={() => pick(id)}><Text of={g.nodes.find((n) => n.id === id)?.tool ?? ""} /> <span class="mono id">{id}</span></button>{not && <> <span class="tag bad">{not}</span></>}</>;
}

// unmade reports whether a call had no effect.
function unmade(log: Log, id: string): string {
  const s = log.call(id);
  return s?.state === "refused" ? (s.who.startsWith("denied") ? "denied" : "refused") : s?.state === "bad" ? "failed" : "";
}

function cut(s: string, n: number): string {
  return s.length > n ? `${s.slice(0, n - 1)}…` : s;
}
