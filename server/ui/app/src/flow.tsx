import type { Log, Span } from "./fold";
import { NODE, place } from "./graph";
import { link } from "./route";
import { Text } from "./text";

interface Edge { from?: string; to: string; if?: string; join: string }

const begin = "";

/** Flow draws the nodes and edges of a graph, and how far the run has come in it. */
export function Flow({ log }: { log: Log }) {
  const declared = log.start?.steps as { nodes?: { id: string; final?: string }[]; edges?: Edge[] } | undefined;
  if (!declared?.nodes || !declared.edges) return null;
  const steps = { nodes: declared.nodes.filter((n) => !n.final), edges: declared.edges }; // final is asked when none of them runs
  const entered = new Set(steps.edges.map((e) => e.to));
  const edges: Edge[] = [...steps.nodes.filter((n) => !entered.has(n.id)).map((n) => ({ to: n.id, join: "all" })), ...steps.edges];
  const returning = backs(edges);
  const { nodes, paths, width, height } = place({
    nodes: [{ id: begin }, ...steps.nodes],
    edges: edges.map((e) => ({ from: e.from ?? begin, to: e.to, values: [], back: returning.has(e) })),
  });
  return (
    <section class="causes flow">
      <h2>Graph</h2>
      <div class="scroll-x" tabIndex={0} role="group" aria-label="Graph; the table below has the same data">
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${steps.nodes.length} nodes`}>
          <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0l8 4-8 4z" /></marker></defs>
          {edges.map((e, i) => <path key={i} class="edge" marker-end="url(#tip)" d={paths[i]}><title>{told(e)}</title></path>)}
          {[...nodes].map(([id, p]) => {
            const at = log.step(id);
            return (
              <g key={id} class={`node ${state(at?.span)}`} transform={`translate(${p.x} ${p.y})`}>
                <title>{id || "the beginning"}</title>
                <rect width={NODE.width} height={NODE.height} rx={id ? 4 : 18} />
                <text x="10" y={at ? 15 : 22}>{id ? (id.length > 18 ? `${id.slice(0, 17)}…` : id) : "begin"}</text>
                {at && <text x="10" y="29" class="sub">{said(at.span)} · round {at.round}</text>}
              </g>
            );
          })}
        </svg>
      </div>
      <table class="plain">
        <thead><tr><th scope="col">From</th><th scope="col">to</th><th scope="col">if</th><th scope="col">join</th></tr></thead>
        <tbody>
          {edges.map((e, i) => (
            <tr key={i}><td><Node id={e.from ?? begin} log={log} /></td><td><Node id={e.to} log={log} /></td><td class="mono"><Text of={e.if ?? ""} /></td><td>{e.join}</td></tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

// backs are the edges that close a cycle, as seen from the beginning.
function backs(edges: Edge[]): Set<Edge> {
  const found = new Set<Edge>();
  const done = new Set<string>();
  const visit = (id: string, path: Set<string>) => {
    if (done.has(id)) return;
    path.add(id);
    for (const e of edges.filter((e) => (e.from ?? begin) === id)) {
      if (path.has(e.to)) found.add(e);
      else visit(e.to, path);
    }
    path.delete(id);
    done.add(id);
  };
  visit(begin, new Set());
  return found;
}

function Node({ id, log }: { id: string; log: Log }) {
  const child = log.step(id)?.span?.child;
  if (!id) return <>the beginning</>;
  return child ? <a class="mono" href={link(child)}><Text of={id} /></a> : <span class="mono"><Text of={id} /></span>;
}

function told(e: Edge): string {
  return `${e.from ?? "the beginning"} → ${e.to}${e.if ? `, if ${e.if}` : ""}, join ${e.join}`;
}

// state is the class of a node: how its latest run ended.
function state(s?: Span): string {
  return s?.state === "ok" ? "answer" : s?.state === "bad" || s?.state === "refused" ? "failed" : "";
}

function said(s?: Span): string {
  return s?.state === "ok" ? "done" : s?.state === "bad" || s?.state === "refused" ? "failed" : s ? "runs" : "begins";
}
