import type { Doing } from "./actions";
import { Basis } from "./basis";
import { until } from "./format";
import { JsonView } from "./json";
import { Prose, Text } from "./text";
import type { Pending } from "./types";
import type { Live } from "./use-run";

/** PendingList is what a run waits for, with what can be said about it. */
export function PendingList({ pending, live, expired, setDoing }: { pending: Pending[]; live: Live; expired: boolean; setDoing: (d: Doing) => void }) {
  return (
    <section class="pending" aria-label="Waits for you">
      {pending.map((p) => <Item key={`${p.run}/${p.call}`} p={p} live={live} expired={expired} setDoing={setDoing} />)}
    </section>
  );
}

const titles = { approval: "Approve this call?", input: "The run asks", client_tool: "A call for you to run", doubt: "Did this call take place?" };

function Item({ p, live, expired, setDoing }: { p: Pending; live: Live; expired: boolean; setDoing: (d: Doing) => void }) {
  return (
    <article class={`asked ${p.kind}`}>
      <div class="what">
        <h2>{p.answered_at ? "Answered" : expired ? "Not answered in time" : titles[p.kind]}</h2>
        {p.tool && <p class="call"><b class="mono"><Text of={p.tool} /></b> <span class="mono id">{p.call}</span>{p.run.includes(".") && <span class="tag">child run</span>}</p>}
        {p.reason && <Prose of={p.reason} max={1500} />}
        {p.answered_at && <p class="hint">Answered by <Text of={p.answered_by || "someone"} />, not read by the run yet: resume the run.</p>}
        {p.expires_at && !p.answered_at && <p class="hint">{expired ? "Resuming the run asks again." : until(Date.parse(p.expires_at))}</p>}
      </div>
      {p.kind !== "input" && <JsonView value={p.args} label="Arguments" open={20} />}
      {p.answered_at && (
        <div class="buttons">
          <button type="button" class="primary" onClick={() => setDoing({ what: "resume" })}>Resume… <kbd>R</kbd></button>
        </div>
      )}
      {!expired && !p.answered_at && (
        <div class="buttons">
          {p.kind === "approval" && (
            <>
              <button type="button" class="primary" onClick={() => setDoing({ what: "approve", pending: p })}>Approve… <kbd>a</kbd></button>
              <button type="button" class="danger" onClick={() => setDoing({ what: "deny", pending: p })}>Deny… <kbd>d</kbd></button>
            </>
          )}
          {p.kind === "input" && <button type="button" class="primary" onClick={() => setDoing({ what: "answer", pending: p })}>Answer… <kbd>a</kbd></button>}
          {p.kind === "client_tool" && <button type="button" class="primary" onClick={() => setDoing({ what: "submit", pending: p })}>Submit a result… <kbd>a</kbd></button>}
          {p.kind === "doubt" && <button type="button" class="primary" onClick={() => setDoing({ what: "settle", pending: p })}>Settle… <kbd>a</kbd></button>}
        </div>
      )}
      <Basis p={p} live={live} />
    </article>
  );
}
