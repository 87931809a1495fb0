import { useEffect, useState } from "preact/hooks";
import { api } from "./api";
import { link } from "./route";
import { Text } from "./text";
import type { Leg } from "./types";
import type { Live } from "./use-run";

/** useLegs reads the legs of the conversation that the run is one of; none: no agent handed over. */
export function useLegs(live: Live, run: string): Leg[] {
  const [legs, setLegs] = useState<Leg[]>([]);
  const many = !!live.log.start?.continues?.by || (live.ended && /^handoff\(/.test(live.result?.reason.leaf ?? ""));
  useEffect(() => {
    if (!many) return setLegs([]);
    const stop = new AbortController();
    api.explain(run, stop.signal).then((r) => setLegs(r.conversation ?? []), () => {}); // the run itself is shown
    return () => stop.abort();
  }, [many, run, live.ended]);
  return legs;
}

/** Legs are the runs that one message of a person has led to: agents that hand the conversation over. */
export function Legs({ legs, run }: { legs: Leg[]; run: string }) {
  if (!legs.length) return null;
  const { by, reason } = legs.find((l) => l.run === run) ?? { by: "", reason: "" };
  return (
    <nav class="legs" aria-label="Legs of the conversation">
      <ol>
        {legs.map((l) => <li key={l.run} aria-current={l.run === run ? "step" : undefined}>{l.run === run ? <b><Text of={l.agent} /></b> : <a href={link(l.run)}><Text of={l.agent} /></a>}</li>)}
      </ol>
      {by && <span class="hint"><Text of={by} />: <Text of={reason} /></span>}
    </nav>
  );
}
