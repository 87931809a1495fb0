import { useEffect, useState } from "preact/hooks";
import { api } from "./api";
import { link } from "./route";
import { Text } from "./text";
import type { RunLine } from "./types";
import type { Live } from "./use-run";

/** Legs are the runs that one message of a person has led to: agents that hand the conversation over. */
export function Legs({ live, run }: { live: Live; run: string }) {
  const { start } = live.log;
  const before: string[] = start?.continues?.by ? start.continues.legs ?? [] : [];
  const to = /^handoff\((.*)\)$/.exec((live.ended && live.result?.status === "success" && live.result.reason.leaf) || "")?.[1];
  const [runs, setRuns] = useState<RunLine[]>([]);
  const many = before.length > 0 || to !== undefined;
  const thread: string = start?.thread || run; // a run outside a thread begins one that has its id
  useEffect(() => {
    if (!many) return;
    const stop = new AbortController();
    const first = before[0] ?? run;
    Promise.all([api.runs({ thread, max: 100 }, stop.signal), api.run(first, stop.signal)]).then(([{ runs }, r]) => {
      const all = runs.reverse(); // from the oldest
      setRuns(all.some((l) => l.run === first) ? all : [{ run: first, agent: r.agent } as RunLine, ...all]);
    }, () => {}); // their ids are shown
    return () => stop.abort();
  }, [many, thread, run, before.length]);
  if (!many) return null;
  const agent = (id: string) => runs.find((l) => l.run === id)?.agent ?? `…${id.slice(-6)}`;
  const at = runs.findIndex((l) => l.run === run);
  const next = to === undefined || at < 0 ? undefined : runs[at + 1];
  return (
    <nav class="legs" aria-label="Legs of the conversation">
      <ol>
        {before.map((id) => <li key={id}><a href={link(id)}><Text of={agent(id)} /></a></li>)}
        <li aria-current="step"><b><Text of={start?.agent ?? ""} /></b></li>
        {to !== undefined && <li>{next ? <a href={link(next.run)}><Text of={next.agent} /></a> : <Text of={to.replace(/^"|"$/g, "")} />}</li>}
      </ol>
      {start?.continues?.reason && <span class="hint"><Text of={start.continues.by} />: <Text of={start.continues.reason} /></span>}
    </nav>
  );
}
