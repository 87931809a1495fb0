import { parseJSON } from "./exact";
import { tick } from "./format";
import { loggedInAs, person } from "./person";
import type { Agent, Budget, Decision, Entry, Replayed, Report, Result, RunFile, RunLine, Sent, Stats, StopNode } from "./types";

let told: (inside: boolean) => void = () => {};

// Other tabs of this browser share the cookie and must learn of a log-out.
const tabs = new BroadcastChannel("pawl-session");
tabs.onmessage = (e) => told(e.data === true);

/** onLogin names what to call when this browser was logged in or out. */
export function onLogin(f: (inside: boolean) => void): void {
  told = f;
}

/** inside says whether this browser is logged in. No script can read the cookie that says so. */
export async function inside(): Promise<boolean> {
  const session = await get<{ logged_in: boolean; name?: string }>("/v1/session");
  loggedInAs(session.name);
  return session.logged_in;
}

/** login hands the token in for a cookie, and forgets it. */
export async function login(token: string): Promise<void> {
  const r = await send("POST", "/v1/session", undefined, undefined, "application/json", undefined, token);
  loggedInAs((await r.json()).name);
  told(true);
  tabs.postMessage(true);
}

export async function logout(): Promise<void> {
  await send("DELETE", "/v1/session").catch(() => null); // a server that is gone holds no session
  told(false);
  tabs.postMessage(false);
}

/** Refusal is a problem document, or that there was no answer at all (status 0). */
export class Refusal extends Error {
  constructor(readonly status: number, readonly title: string, readonly detail: string) {
    super(detail || title);
  }
}

export function words(e: unknown): string {
  if (e instanceof Refusal) {
    if (e.status === 0) return "The server cannot be reached.";
    const text = e.detail || e.title;
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
  }
  return e instanceof Error ? e.message : String(e);
}

async function refusal(r: Response): Promise<Refusal> {
  let title = r.statusText || `status ${r.status}`;
  let detail = "";
  try {
    const p = await r.json();
    title = p.title || title;
    detail = p.detail || "";
  } catch {
    // Not a problem document: a proxy answered.
  }
  if (r.status === 401) told(false);
  return new Refusal(r.status, title, detail);
}

async function send(method: string, path: string, body?: unknown, signal?: AbortSignal, accept = "application/json", last?: number, token?: string): Promise<Response> {
  const headers: Record<string, string> = { Accept: accept };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (last) headers["Last-Event-ID"] = String(last);
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let r: Response;
  try {
    r = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal, credentials: "same-origin", cache: "no-store" });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new Refusal(0, "unreachable", "");
  }
  tick(r.headers.get("Date"));
  if (!r.ok) throw await refusal(r);
  return r;
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return parseJSON(await (await send("GET", path, undefined, signal)).text());
}

async function post<T>(path: string, body: unknown): Promise<T> {
  return parseJSON(await (await send("POST", path, body)).text());
}

const id = encodeURIComponent;

function query(q: Record<string, string | number | string[] | undefined>): string {
  const p = new URLSearchParams();
  for (const [k, v] of Object.entries(q)) for (const one of Array.isArray(v) ? v : [v]) if (one !== undefined && one !== "") p.append(k, String(one));
  const s = p.toString();
  return s ? `?${s}` : "";
}

export const api = {
  runs: (q: { status?: string; agent?: string; label?: string[]; q?: string; since?: string; until?: string; min_cost?: string; cursor?: string; max?: number; brief?: string; thread?: string }, signal?: AbortSignal) =>
    get<{ runs: RunLine[]; next: string }>(`/v1/runs${query(q)}`, signal),
  run: (run: string, signal?: AbortSignal) => get<Result>(`/v1/runs/${id(run)}`, signal),
  // The first page is small, so that it shows quickly.
  events: (run: string, cursor: string, signal?: AbortSignal) =>
    get<{ entries: Entry[]; next: string }>(`/v1/runs/${id(run)}/events${query({ cursor, max: cursor ? 5000 : 400 })}`, signal),
  files: (run: string, signal?: AbortSignal) => get<{ files: RunFile[] }>(`/v1/runs/${id(run)}/files`, signal),
  file: (run: string, digest: string) => `/v1/runs/${id(run)}/files/${id(digest)}`, // the session's cookie goes along with a link
  explain: (run: string, signal?: AbortSignal) => get<Report>(`/v1/runs/${id(run)}/explain`, signal),
  stats: (q: { by: string; step: string; since: string }, signal?: AbortSignal) => get<Stats>(`/v1/stats${query(q)}`, signal),
  budgets: (signal?: AbortSignal) => get<{ budgets: Budget[] }>("/v1/budgets", signal),
  decided: (run: string, signal?: AbortSignal) => get<{ decisions: Decision[] }>(`/v1/runs/${id(run)}/decisions`, signal),
  decisions: (q: { by?: string; what?: string; agent?: string; since?: string; cursor?: string }, signal?: AbortSignal) => get<{ decisions: Decision[]; next: string }>(`/v1/decisions${query(q)}`, signal),
  agents: () => get<{ agents: Agent[] }>("/v1/agents"),
  request: (run: string, seq: number, signal?: AbortSignal) => get<Sent>(`/v1/runs/${id(run)}/requests/${seq}`, signal),
  stop: (run: string, at: number | undefined, signal?: AbortSignal) => get<{ at: number; stop: StopNode }>(`/v1/runs/${id(run)}/stop${query({ at })}`, signal),
  replay: (run: string) => get<Replayed>(`/v1/runs/${id(run)}/replay`),
  start: (body: unknown) => post<Result>("/v1/runs", body),
  act: (run: string, what: "resume" | "cancel" | "fork" | "messages", body: object) => post<Result>(`/v1/runs/${id(run)}/${what}`, what === "resume" ? body : { by: person(), ...body }),
  call: (run: string, call: string, what: "approve" | "deny" | "answer" | "submit" | "settle" | "cancel", body: object) =>
    post<Result>(`/v1/runs/${id(run)}/calls/${id(call)}/${what}`, { by: person(), ...body }),
};

/** readLog hands over the entries of a run from a cursor on, page by page. */
export async function readLog(run: string, cursor: string, each: (entries: Entry[]) => void, signal?: AbortSignal): Promise<void> {
  do {
    const page = await api.events(run, cursor, signal);
    if (!page.entries.length) return;
    each(page.entries);
    cursor = page.next;
  } while (cursor);
}

export type Connection = { state: "connecting" | "live" | "lost" | "ended"; retry?: number };

export interface Listener {
  entries(batch: Entry[]): void;
  delta(e: Entry): void;
  state(c: Connection): void;
}

/**
 * follow streams a run's entries after seq until it ends or signal says so. A
 * broken stream is taken up again behind the last entry that came. What comes
 * within a frame of the screen is handed over at once. Somebody who expects an
 * ended run to go on, having asked for it, is not content with its end at first.
 */
export async function follow(run: string, seq: number, on: Listener, signal: AbortSignal, expecting = false): Promise<void> {
  let batch: Entry[] = [];
  let due = 0;
  const flush = () => {
    due = 0;
    const b = batch;
    batch = [];
    if (b.length && !signal.aborted) on.entries(b);
  };
  let patience = expecting ? 12 : 0;
  for (let wait = 500; !signal.aborted; ) {
    let over = false;
    try {
      on.state({ state: "connecting" });
      const r = await send("GET", `/v1/runs/${id(run)}/events?children=true`, undefined, signal, "text/event-stream", seq);
      if (r.status === 204) {
        if (patience-- <= 0) return on.state({ state: "ended" });
        await new Promise((done) => setTimeout(done, 400));
        continue;
      }
      on.state({ state: "live" });
      await frames(r.body!, (event, data) => {
        wait = 500;
        const e: Entry = parseJSON(data);
        if (event === "model.delta" || event === "tool.progressed") {
          if (batch.length) flush();
          on.delta(e);
          return;
        }
        if (!e.seq || e.seq <= seq) return;
        seq = e.seq;
        over = ended(e);
        batch.push(e);
        due ||= window.setTimeout(flush, 30);
      });
      flush();
      if (over) {
        on.state({ state: "ended" });
        return;
      }
    } catch (e) {
      flush();
      if (signal.aborted) return;
      if (e instanceof Refusal && e.status >= 400 && e.status < 500 && e.status !== 429) throw e;
    }
    on.state({ state: "lost", retry: wait });
    await new Promise((done) => setTimeout(done, wait * (0.75 + Math.random() / 2)));
    wait = Math.min(wait * 2, 10_000);
  }
}

/** ended says that nothing follows an entry until somebody resumes the run. */
export function ended(e: Entry): boolean {
  return e.type === "run.stopped";
}

async function frames(body: ReadableStream<Uint8Array>, frame: (event: string, data: string) => void): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as any).getReader() as ReadableStreamDefaultReader<string>;
  let rest = "";
  let event = "";
  let data: string[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const lines = rest.split(/\r\n|\n/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === "") {
        if (data.length) frame(event, data.join("\n"));
        event = "";
        data = [];
      } else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      else if (line.startsWith("event:")) event = line.slice(6).trim();
    }
  }
}
