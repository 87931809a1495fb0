export function duration(ms: number): string {
  if (!isFinite(ms)) return "–";
  if (ms < 0) ms = 0;
  if (ms < 1) return ms === 0 ? "0 ms" : "<1 ms";
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 9.95) return `${s.toFixed(1)} s`;
  if (s < 59.5) return `${Math.round(s)} s`;
  const m = Math.floor(Math.round(s) / 60);
  if (m < 60) return pair(m, "min", Math.round(s) % 60, "s");
  const h = Math.floor(m / 60);
  if (h < 48) return pair(h, "h", m % 60, "min");
  return pair(Math.floor(h / 24), "d", h % 24, "h");
}

function pair(a: number, unit: string, b: number, smaller: string): string {
  return b ? `${a} ${unit} ${b} ${smaller}` : `${a} ${unit}`;
}

export function number(n: number): string {
  return Math.round(n).toLocaleString("en-US");
}

/** short is a number in at most five characters. */
export function short(n: number): string {
  if (n < 10_000) return number(n);
  if (n < 999_500) return `${(n / 1000).toFixed(n < 99_950 ? 1 : 0)}k`;
  return `${(n / 1e6).toFixed(n < 99.95e6 ? 1 : 0)}M`;
}

export function money(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return "–";
  if (usd === 0) return "$0";
  if (usd < 0.00005) return "<$0.0001";
  return usd < 0.1 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function percent(x: number): string {
  return `${x > 0 && x < 0.01 ? "<1" : Math.round(x * 100)} %`;
}

/** far is how far a call is, in a few words. */
export function far(of: { fraction?: number; text?: string }): string {
  return [of.fraction ? percent(of.fraction) : "", of.text ?? ""].filter(Boolean).join(": ");
}

export function clock(ms: number): string {
  const d = new Date(ms);
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

export function stamp(ms: number): string {
  const d = new Date(ms);
  const day = `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
  return `${day} ${clock(ms)}`;
}

let ahead = 0; // of the server's clock, what this machine's is

/** tick notes the time that an answer of the server has, to the second. */
export function tick(date: string | null): void {
  const off = Date.now() - Date.parse(date ?? "");
  if (!isNaN(off)) ahead = Math.abs(off) > 2000 ? off : 0;
}

/** now is the time by the server's clock, as the log has it. */
export const now = (): number => Date.now() - ahead;

export function ago(ms: number): string {
  const s = Math.max(0, (now() - ms) / 1000);
  if (s < 5) return "just now";
  if (s < 60) return `${Math.floor(s)} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ago`;
  if (s < 7 * 86_400) return `${Math.floor(s / 86_400)} d ago`;
  return stamp(ms).slice(0, 10);
}

export function until(ms: number): string {
  const left = ms - now();
  return left <= 0 ? "expired" : `expires in ${duration(left)}`;
}

function two(n: number): string {
  return n < 10 ? `0${n}` : String(n);
}

/** instant reads a time of the log to the microsecond: a Date would drop what many steps take. */
export function instant(s: string): number {
  const m = /\.\d{3}(\d{1,3})/.exec(s);
  return Date.parse(s) + (m ? Number(m[1].padEnd(3, "0")) / 1000 : 0);
}

/** goDuration reads a duration as specs and logs write it, such as 1h30m0s. */
export function goDuration(s: string): number {
  let ms = 0;
  for (const [, n, unit] of s.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)) {
    ms += Number(n) * { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1e3, m: 6e4, h: 3.6e6 }[unit]!;
  }
  return ms;
}

export function excerpt(s: string, max = 200): string {
  s = s.slice(0, max * 3).replace(/\s+/g, " ").trim();
  return s.length > max ? `${s.slice(0, max)}…` : s;
}

/** oneLine is a JSON value on one line, cut short. */
export function oneLine(v: unknown, max = 160): string {
  if (v === undefined || v === null) return "";
  return excerpt(typeof v === "string" ? v : JSON.stringify(v), max);
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${number(n)} ${n === 1 ? one : many}`;
}

export const statusWords: Record<string, string> = {
  success: "success",
  exhausted: "exhausted",
  no_progress: "no progress",
  waiting_approval: "waits for approval",
  waiting_input: "waits for an answer",
  waiting_client_tool: "waits for a client",
  waiting_doubt: "in doubt",
  expired: "expired",
  denied: "denied",
  plan_failed: "plan failed",
  failed: "failed",
  cancelled: "cancelled",
  paused: "paused",
  interrupted: "interrupted",
  running: "running",
  queued: "queued",
};

/** ended are the statuses of runs that are over unless somebody resumes them. */
export const ended = ["success", "exhausted", "no_progress", "failed", "plan_failed", "denied", "cancelled"];

/** tone is the colour of a status. */
export function tone(status: string): "good" | "limit" | "stuck" | "ask" | "bad" | "off" | "live" {
  if (status === "success") return "good";
  if (status === "exhausted") return "limit";
  if (status === "no_progress") return "stuck";
  if (status.startsWith("waiting")) return "ask";
  if (status === "failed" || status === "plan_failed" || status === "denied") return "bad";
  if (status === "running" || status === "queued") return "live";
  return "off";
}

/** argsLine is the arguments of a call at a glance. */
export function argsLine(args: unknown): string {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return oneLine(args);
  return excerpt(Object.entries(args).map(([k, v]) => `${k}=${typeof v === "string" ? v : JSON.stringify(v)}`).join("  "), 160);
}
