import { useEffect, useState } from "preact/hooks";
import { api, words } from "./api";
import { clock, duration, money, number, percent } from "./format";
import { Copy, Notice, Text } from "./text";
import type { Amount, Report } from "./types";
import type { Live } from "./use-run";

/** ExplainView is the report: why it stopped, what it did, what it cost, what to do next. */
export function ExplainView({ live, run, open }: { live: Live; run: string; open: (tab: string, seq?: number) => void }) {
  const [report, setReport] = useState<Report | null>(null);
  const [error, setError] = useState("");
  const settled = live.log.turning ? 0 : live.log.last;
  useEffect(() => {
    const stop = new AbortController();
    api.explain(run, stop.signal).then(setReport, (e) => !stop.signal.aborted && setError(words(e)));
    return () => stop.abort();
  }, [run, settled]);
  if (error) return <Notice bad>{error}</Notice>;
  if (!report) return <p class="empty" role="status">Reading the log…</p>;
  const r = report;
  return (
    <div class="explain">
      {r.next?.length > 0 && (
        <section class="whole">
          <h2>What to do next</h2>
          <ul class="next-list">{r.next.map((n) => <li key={n.command}><p><Text of={n.why} /></p><div class="cmd"><code><Text of={n.command} /></code><Copy text={n.command} /></div></li>)}</ul>
        </section>
      )}
      <section>
        <h2>Ceilings</h2>
        <table class="plain"><thead><tr><th scope="col">Of</th><th scope="col" class="num">Used</th><th scope="col" class="num">Limit</th><th scope="col" class="num">Part</th></tr></thead><tbody>
          {Object.entries(r.ceilings ?? {}).map(([name, a]) => <tr key={name}><td>{name.replaceAll("_", " ")}{a.refused && <span class="tag bad">refused a step</span>}</td><td class="num">{amount(a, a.used)}</td><td class="num">{a.limit ? amount(a, a.limit) : "none"}</td><td class="num">{a.limit ? percent(a.used / a.limit) : ""}</td></tr>)}
        </tbody></table>
      </section>
      <section>
        <h2>Cost</h2>
        <table class="plain"><thead><tr><th scope="col">For</th><th scope="col" class="num">Calls</th><th scope="col" class="num">Failed</th><th scope="col" class="num">In</th><th scope="col" class="num">Out</th><th scope="col" class="num">Cost</th></tr></thead><tbody>
          {Object.entries(r.cost ?? {}).map(([name, p]) => <tr key={name}><td>{name}</td><td class="num">{p.model_calls}</td><td class="num">{p.failed || ""}</td><td class="num">{number(p.input_tokens)}</td><td class="num">{number(p.output_tokens)}</td><td class="num">{money(p.cost_usd)}</td></tr>)}
        </tbody></table>
        <Spending r={r} />
      </section>
      {r.failures?.length > 0 && (
        <section class="whole">
          <h2>Failed model calls</h2>
          <table class="plain"><thead><tr><th scope="col">Entry</th><th scope="col">For</th><th scope="col">What</th></tr></thead><tbody>
            {r.failures.map((f) => <tr key={f.seq}><td><button type="button" class="link" onClick={() => open("timeline", f.seq)}>{f.seq}</button></td><td>{f.purpose}, attempt {f.attempt}</td><td>{f.class}: <Text of={f.message} /></td></tr>)}
          </tbody></table>
        </section>
      )}
      <section class="whole">
        <h2>Step by step</h2>
        <ol class="decisions">
          {r.decisions.map((d) => (
            <li key={d.seq}>
              <button type="button" class="link seq" onClick={() => open("timeline", d.seq)} aria-label={`entry ${d.seq} in the timeline`}>{d.seq}</button>
              <span class={`step ${d.step}`}>{d.step}</span>
              <div><b><Text of={d.subject} /></b> <span class="why"><Text of={d.why} /></span>{d.outcome.map((o, i) => <p key={i}><Text of={o} /></p>)}</div>
              <time dateTime={d.time}>{clock(Date.parse(d.time))}</time>
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}

function amount(a: Amount, n: number): string {
  return a.unit === "s" ? duration(n * 1000) : a.unit === "USD" ? money(n) : number(n);
}

function Spending({ r }: { r: Report }) {
  const { turn_input: input, cache, compaction } = r.spending;
  return (
    <>
      {input.most > input.first && <p>The input of a turn went from {number(input.first)} to {number(input.last)} tokens, at most {number(input.most)}.</p>}
      {cache.hit_rate != null && <p>Cache: {percent(cache.hit_rate)} of what could be read from it was{cache.saved_usd ? `, which saved ${money(cache.saved_usd)}` : ""}.</p>}
      {compaction.times > 0 && <p>The conversation was shortened {compaction.times === 1 ? "once" : `${compaction.times} times`}, which saved {number(compaction.saved.tokens)} tokens{compaction.saved.cost_usd ? ` (${money(compaction.saved.cost_usd)})` : ""}.</p>}
    </>
  );
}
