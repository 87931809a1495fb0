import { useEffect, useState } from "preact/hooks";
import { api, words } from "./api";
import { money, number, stamp } from "./format";
import { Notice, Text } from "./text";
import type { Budget } from "./types";

/** BudgetsPage shows what budgets have spent, across runs, in the periods that last. */
export function BudgetsPage() {
  const [all, setAll] = useState<Budget[] | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    const read = () => api.budgets(stop.signal).then((p) => { setAll(p.budgets); setError(""); }, (e) => stop.signal.aborted || setError(words(e)));
    void read();
    const again = setInterval(() => void read(), 5000); // runs go on spending
    return () => { stop.abort(); clearInterval(again); };
  }, []);
  return (
    <div class="compare budgets" data-loaded={all ? true : undefined}>
      <h1>Budgets</h1>
      {error && <Notice bad>{error}</Notice>}
      {!all ? !error && <p role="status">Loading…</p> : !all.length ? <p class="empty">No budget has been used.</p> : (
        <>
          <div class="wide"><table>
            <thead><tr><th scope="col">Of</th><th scope="col">Per</th><th scope="col" class="num">Spent</th><th scope="col" class="num">Reserved</th><th scope="col" class="num">Left</th><th scope="col" class="num">Limit</th><th scope="col">Period ends</th></tr></thead>
            <tbody>
              {all.map((b) => (
                <tr key={`${b.label}=${b.value} ${b.per}`}>
                  <th scope="row">{b.label ? <Text of={`${b.label}=${b.value}`} /> : "all runs"}</th>
                  <td>{b.per}</td>
                  <td class="num">{both(b, b.spent_usd, b.spent_tokens)}</td>
                  <td class="num">{both(b, b.reserved_usd, b.reserved_tokens)}</td>
                  <td class="num">{both(b, left(b.limit_usd, b.spent_usd + b.reserved_usd), left(b.limit_tokens, b.spent_tokens + b.reserved_tokens))}</td>
                  <td class="num">{both(b, b.limit_usd, b.limit_tokens)}</td>
                  <td>{b.until ? stamp(Date.parse(b.until)) : "never"}</td>
                </tr>
              ))}
            </tbody>
          </table></div>
          <p class="hint">What is reserved is for model calls in progress, which may cost less.</p>
        </>
      )}
    </div>
  );
}

const left = (limit: number | null, used: number) => (limit === null ? null : Math.max(0, limit - used));

/** both is an amount in what the budget limits. */
function both(b: Budget, usd: number | null, tokens: number | null): string {
  const parts = [];
  if (b.limit_usd !== null && usd !== null) parts.push(money(usd));
  if (b.limit_tokens !== null && tokens !== null) parts.push(`${number(tokens)} tokens`);
  return parts.join(", ");
}
