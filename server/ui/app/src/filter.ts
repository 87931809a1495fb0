// What the list shows is in its address, so that it can be sent, kept and gone back to.

export interface Filter {
  search: string; // words, and label=value
  status: string; // "waiting": whatever waits for a person
  agent: string;
  time: string; // a span such as 24h, "today", or empty
  since: string; // of a span of one's own, as the field has it
  until: string;
  min: string; // dollars
}

const names: Record<keyof Filter, string> = { search: "q", status: "status", agent: "agent", time: "time", since: "since", until: "until", min: "min_cost" };

export function readFilter(q: URLSearchParams): Filter {
  return Object.fromEntries(Object.entries(names).map(([k, name]) => [k, q.get(name) ?? ""])) as unknown as Filter;
}

export function queryOf(f: Filter): URLSearchParams {
  const q = new URLSearchParams();
  for (const [k, name] of Object.entries(names)) if (f[k as keyof Filter]) q.set(name, f[k as keyof Filter]);
  return q;
}

export const spans: [string, string, number][] = [["1h", "last hour", 36e5], ["24h", "last 24 hours", 864e5], ["7d", "last 7 days", 6048e5], ["30d", "last 30 days", 2592e6]];

/** range is the span of time of a filter, as the server takes it. */
export function range(f: Filter, now = Date.now()): { since?: string; until?: string } {
  if (f.time === "today") return { since: new Date(new Date(now).setHours(0, 0, 0, 0)).toISOString() };
  const span = spans.find(([name]) => name === f.time);
  // To the minute: a list that is asked for again is asked for the same.
  if (span) return { since: new Date(Math.floor((now - span[2]) / 6e4) * 6e4).toISOString() };
  if (f.time !== "own") return {};
  const at = (s: string) => (s && !isNaN(Date.parse(s)) ? new Date(s).toISOString() : undefined);
  return { since: at(f.since), until: at(f.until) };
}

/** sought is what the server looks for: label=value in labels, and other words. What has spaces in it stands in quotes, or some of it. */
export function sought(search: string): { label: string[]; q?: string } {
  const all = (search.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []).map((w) => w.replaceAll('"', ""));
  const label = (w: string) => /^[^=]+=./.test(w);
  const q = all.filter((w) => !label(w)).join(" ");
  return { label: all.filter(label), q: /[\p{L}\p{N}]/u.test(q) ? q : undefined };
}

export interface View { name: string; query: string; own?: boolean }

const given: View[] = [
  { name: "All", query: "" },
  { name: "Failed today", query: "status=failed&time=today" },
  { name: "Expensive this week", query: "time=7d&min_cost=1" },
];
const key = "pawl-views";

/** views are those that are given and those that this browser has kept. */
export function views(): View[] {
  try {
    const own = JSON.parse(localStorage.getItem(key) ?? "{}") as Record<string, unknown>;
    return [...given, ...Object.entries(own).filter(([, q]) => typeof q === "string").map(([name, query]) => ({ name, query: query as string, own: true }))];
  } catch {
    return given;
  }
}

export function keepView(name: string, query: string | null): void {
  const own = Object.fromEntries(views().filter((v) => v.own && v.name !== name).map((v) => [v.name, v.query]));
  if (query !== null) own[name] = query;
  localStorage.setItem(key, JSON.stringify(own));
}
