import { useEffect, useState } from "preact/hooks";
import { api, words } from "./api";
import { StartRun } from "./start";
import { Notice, Text } from "./text";
import type { Agent } from "./types";

/** AgentsPage shows the agents that this server can start. */
export function AgentsPage() {
  const [all, setAll] = useState<Agent[] | null>(null);
  const [error, setError] = useState("");
  const [starting, setStarting] = useState("");
  useEffect(() => {
    api.agents().then((p) => setAll(p.agents), (e) => setError(words(e)));
  }, []);
  return (
    <div class="compare agents" data-loaded={all ? true : undefined}>
      <h1>Agents</h1>
      {error ? <Notice bad>{error}</Notice> : !all ? <p role="status">Loading…</p> : !all.length ? <p class="empty">This server has no agents. Start <code>pawl serve</code> with their specs.</p> : (
        <table>
          <thead><tr><th scope="col">Agent</th><th scope="col">What it does</th><th scope="col" class="mono">Model</th><th scope="col" class="tools">Tools</th><th scope="col" class="act"><span class="sr">Action</span></th></tr></thead>
          <tbody>
            {all.map((a) => (
              <tr key={a.name}>
                <th scope="row"><a href={`#/?agent=${encodeURIComponent(a.name)}`}><Text of={a.name} /></a></th>
                <td><Text of={a.description || "–"} /></td>
                <td class="mono"><Text of={a.model} /></td>
                <td class="mono tools"><Text of={a.tools.join(", ") || "none"} /></td>
                <td class="act"><button type="button" onClick={() => setStarting(a.name)} aria-label={`Start a run of ${a.name}`}>Start…</button></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {starting && <StartRun agent={starting} close={() => setStarting("")} />}
    </div>
  );
}
