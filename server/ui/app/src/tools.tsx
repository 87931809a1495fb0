import { useEffect, useMemo, useState } from "preact/hooks";
import { api, words } from "./api";
import { Dialog, JsonField, jsonProblem } from "./dialog";
import { parseJSON } from "./exact";
import { go, link } from "./route";
import { random, readLabels } from "./start";
import { Notice, Text } from "./text";
import type { Agent, Tool } from "./types";

/** CallTool calls a tool of an agent by hand, with a form made of the schema of its arguments. */
export function CallTool({ close }: { close: () => void }) {
  const [agents, setAgents] = useState<Agent[] | null>(null);
  const [tools, setTools] = useState<Tool[]>([]);
  const [name, setName] = useState("");
  const [tool, setTool] = useState("");
  const [values, setValues] = useState<Record<string, any>>({});
  const [raw, setRaw] = useState<string | null>(null); // as JSON; null: in fields
  const [labels, setLabels] = useState("");
  const [error, setError] = useState("");
  const [key] = useState(random);
  useEffect(() => {
    api.agents().then((r) => {
      const able = r.agents.filter((a) => a.tools.length);
      setAgents(able);
      setName(able[0]?.name ?? "");
    }, (e) => setError(words(e)));
  }, []);
  useEffect(() => {
    if (!name) return;
    const stop = new AbortController();
    api.tools(name, stop.signal).then((r) => {
      setTools(r.tools);
      pick(r.tools[0]?.name ?? "");
    }, (e) => stop.signal.aborted || setError(words(e)));
    return () => stop.abort();
  }, [name]);
  const pick = (to: string) => {
    setTool(to);
    setValues({});
    setRaw(null);
  };
  const one = tools.find((t) => t.name === tool);
  const fields = useMemo(() => fieldsOf(one?.input), [one]);
  const args = raw === null ? build(fields, values) : jsonProblem(raw) ? null : parseJSON(raw);
  const missing = raw === null && fields.some((f) => f.required && args?.[f.name] === undefined);
  const broken = raw === null && fields.some((f) => f.kind === "json" && values[f.name] && jsonProblem(values[f.name]));
  const act = async () => {
    const r = await api.callTool(name, tool, { args, labels: readLabels(labels), idempotency_key: key });
    go(link(r.run));
  };
  return (
    <Dialog signed title="Call a tool" does="Call" act={act} close={close} disabled={!one || args === null || missing || broken}>
      {error && <Notice bad>{error}</Notice>}
      {agents?.length === 0 && <Notice>No agent of this server has tools.</Notice>}
      <div class="pair">
        <div class="field"><label for="call-agent">Agent</label><select id="call-agent" data-first value={name} onChange={(e) => setName(e.currentTarget.value)}>{agents?.map((a) => <option key={a.name} value={a.name}>{a.name}</option>)}</select></div>
        <div class="field"><label for="call-tool">Tool</label><select id="call-tool" value={tool} onChange={(e) => pick(e.currentTarget.value)}>{tools.map((t) => <option key={t.name} value={t.name}>{t.name}</option>)}</select></div>
      </div>
      {one && <p class="hint"><span class={`tag ${one.effect}`}>{one.effect}</span> <Text of={one.description || "No description."} /></p>}
      {raw !== null
        ? <JsonField id="call-json" label="Arguments" value={raw} set={setRaw} />
        : fields.length === 0 ? one && <p>It takes no arguments.</p> : fields.map((f) => <FieldOf key={f.name} f={f} value={values[f.name]} set={(v) => setValues((now) => ({ ...now, [f.name]: v }))} />)}
      {one && <button type="button" class="link" disabled={broken} onClick={() => setRaw(raw === null ? JSON.stringify(args ?? {}, null, 2) : null)}>{raw === null ? "Write them as JSON" : "Back to the fields"}</button>}
      <div class="field"><label for="call-labels">Labels</label><input id="call-labels" class="mono" placeholder="case=12" value={labels} onInput={(e) => setLabels(e.currentTarget.value)} /></div>
      <p class="hint">The call is a run of its own, with the approvals, policies and limits of the agent and with a log that names you.</p>
    </Dialog>
  );
}

interface Field { name: string; kind: "text" | "number" | "boolean" | "choice" | "json"; required: boolean; about: string; choices: string[]; min?: number; max?: number; whole: boolean }

function fieldsOf(schema: any): Field[] {
  return Object.entries<any>(schema?.properties ?? {}).map(([name, s]) => {
    const type = Array.isArray(s.type) ? s.type.find((t: string) => t !== "null") : s.type;
    const choices = (s.enum ?? []).filter((v: unknown) => typeof v === "string");
    const kind = choices.length && choices.length === s.enum.length ? "choice" : type === "string" ? "text" : type === "number" || type === "integer" ? "number" : type === "boolean" ? "boolean" : "json";
    return { name, kind, required: (schema.required ?? []).includes(name), about: s.description ?? "", choices, min: s.minimum, max: s.maximum, whole: type === "integer" };
  });
}

/** build makes arguments of what the fields have. What was left empty is left out. */
function build(fields: Field[], values: Record<string, any>): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const f of fields) {
    const v = values[f.name];
    if (f.kind === "boolean") {
      if (v !== undefined || f.required) out[f.name] = !!v;
    } else if (v === undefined || v === "") continue;
    else if (f.kind === "number") out[f.name] = Number(v);
    else if (f.kind === "json") out[f.name] = jsonProblem(v) ? undefined : parseJSON(v);
    else out[f.name] = v;
  }
  return out;
}

function FieldOf({ f, value, set }: { f: Field; value: any; set: (v: any) => void }) {
  const id = `arg-${f.name}`;
  const said = <>{f.name}{!f.required && <span class="hint"> optional</span>}</>;
  if (f.kind === "boolean") return <label><input type="checkbox" checked={!!value} onChange={(e) => set(e.currentTarget.checked)} /> <Text of={f.name} />{f.about && <span class="hint"> <Text of={f.about} /></span>}</label>;
  if (f.kind === "json") return <JsonField id={id} label={`${f.name}${f.required ? "" : " (optional)"}, as JSON`} value={value ?? ""} set={set} rows={4} />;
  return (
    <div class="field">
      <label for={id}>{said}</label>
      {f.kind === "choice"
        ? <select id={id} value={value ?? ""} onChange={(e) => set(e.currentTarget.value)}><option value="">–</option>{f.choices.map((c) => <option key={c} value={c}>{c}</option>)}</select>
        : f.kind === "number"
          ? <input id={id} type="number" step={f.whole ? 1 : "any"} min={f.min} max={f.max} value={value ?? ""} onInput={(e) => set(e.currentTarget.value)} />
          : <input id={id} value={value ?? ""} onInput={(e) => set(e.currentTarget.value)} />}
      {f.about && <p class="hint"><Text of={f.about} /></p>}
    </div>
  );
}
