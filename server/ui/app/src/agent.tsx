import { Board } from "./board";
import { Flow } from "./flow";
import type { Log } from "./fold";
import { JsonView } from "./json";
import { Said } from "./said";
import { Prose, Text } from "./text";

/** AgentView is the agent as the run declares it. */
export function AgentView({ log }: { log: Log; version: number }) {
  const d = log.start;
  if (!d) return <p class="empty" role="status">Reading the log…</p>;
  const { tools = [], prompt, source, digests, input, ...rest } = d;
  for (const k of ["owner", "epoch", "nonce", "key", "machine", "labels"]) delete rest[k];
  let document = "";
  try {
    document = JSON.parse(source ?? "{}").document ?? "";
  } catch {
    // A program may have its own form of source.
  }
  return (
    <div class="agent">
      <section><h2>Asked</h2><Said of={input ?? ""} class="quote" label="Input" /></section>
      <Flow log={log} />
      <Board log={log} />
      {prompt && <section><h2>Prompt</h2><Prose of={prompt} class="quote" /></section>}
      {log.stop && <section><h2>Stop condition</h2><pre class="code"><Text of={log.stop} /></pre></section>}
      <section>
        <h2>Tools</h2>
        {tools.length === 0 && <p>None.</p>}
        {tools.map((t: any) => (
          <details key={t.name}>
            <summary><b class="mono"><Text of={t.name} /></b> <span class={`tag ${t.effect}`}>{t.effect}</span> {t.agent && <span class="tag">agent</span>} <span class="hint"><Text of={t.description ?? ""} /></span></summary>
            <JsonView value={t} open={2} />
          </details>
        ))}
      </section>
      <section><h2>Other parts of the declaration</h2><JsonView value={rest} open={2} /></section>
      {document && <section><h2>Spec</h2><pre class="code"><Text of={document} /></pre></section>}
    </div>
  );
}
