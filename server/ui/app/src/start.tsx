import { useEffect, useState } from "preact/hooks";
import { api, words } from "./api";
import { Dialog } from "./dialog";
import { go, link } from "./route";
import { Notice, Text } from "./text";
import type { Agent } from "./types";

/** readLimits makes of "iterations=5, cost=2" what the API takes. */
export function readLimits(s: string): Record<string, string | number> | undefined {
  const out: Record<string, string | number> = {};
  for (const part of s.split(/[,\n]/)) {
    const [k, ...rest] = part.split("=");
    if (!k.trim()) continue;
    const v = rest.join("=").trim();
    out[k.trim()] = v !== "" && !isNaN(Number(v)) && !v.startsWith("+") ? Number(v) : v;
  }
  return Object.keys(out).length ? out : undefined;
}

export function readLabels(s: string): Record<string, string> | undefined {
  const out: Record<string, string> = {};
  for (const part of s.split(/[,\n]/)) {
    const [k, ...rest] = part.split("=");
    if (k.trim()) out[k.trim()] = rest.join("=").trim();
  }
  return Object.keys(out).length ? out : undefined;
}

export function StartRun({ close, agent: of }: { close: () => void; agent?: string }) {
  const [agents, setAgents] = useState<Agent[] | null>(null);
  const [error, setError] = useState("");
  const [name, setName] = useState("");
  const [input, setInput] = useState("");
  const [limits, setLimits] = useState("");
  const [labels, setLabels] = useState("");
  // One key for this dialog: pressing the button twice starts one run.
  const [key] = useState(random);
  useEffect(() => {
    api.agents().then((r) => {
      setAgents(r.agents);
      setName(of ?? r.agents[0]?.name ?? "");
    }, (e) => setError(words(e)));
  }, []);
  const agent = agents?.find((a) => a.name === name);
  const act = async () => {
    const r = await api.start({ agent: name, input: input || undefined, limits: readLimits(limits), labels: readLabels(labels), idempotency_key: key });
    go(link(r.run));
  };
  return (
    <Dialog title="Start a run" does="Start" act={act} close={close} disabled={!agent || (!input && !agent.input)}>
      {error && <Notice bad>{error}</Notice>}
      {agents?.length === 0 && <Notice>This server has no agents. Start <code>pawl serve</code> with their specs, or with a directory of specs.</Notice>}
      <div class="field">
        <label for="start-agent">Agent</label>
        <select id="start-agent" data-first value={name} onChange={(e) => setName(e.currentTarget.value)}>
          {agents?.map((a) => <option key={a.name} value={a.name}>{a.name}</option>)}
        </select>
        {agent && <p class="hint"><Text of={agent.description || "No description."} /> <span class="mono"><Text of={agent.model} /></span>{agent.tools?.length ? <>, {agent.tools.length} {agent.tools.length === 1 ? "tool" : "tools"}</> : null}</p>}
      </div>
      <div class="field">
        <label for="start-input">Input</label>
        <textarea id="start-input" rows={4} value={input} placeholder={agent?.input || "Task"} onInput={(e) => setInput(e.currentTarget.value)} />
        {agent?.input && !input && <p class="hint">If empty, the spec's input is used.</p>}
      </div>
      <div class="pair">
        <div class="field"><label for="start-limits">Limits</label><input id="start-limits" class="mono" placeholder="iterations=20, cost=2.00" value={limits} onInput={(e) => setLimits(e.currentTarget.value)} /></div>
        <div class="field"><label for="start-labels">Labels</label><input id="start-labels" class="mono" placeholder="team=ops, case=12" value={labels} onInput={(e) => setLabels(e.currentTarget.value)} /></div>
      </div>
    </Dialog>
  );
}

export function random(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}
