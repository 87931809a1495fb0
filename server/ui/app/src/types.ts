// The JSON of the API, as far as this page reads it. Package client of the Go
// sources documents the members.

export type Json = null | boolean | number | string | Json[] | { [k: string]: Json };

export type Status =
  | "success" | "exhausted" | "no_progress"
  | "waiting_approval" | "waiting_input" | "waiting_client_tool" | "waiting_doubt" | "expired"
  | "denied" | "plan_failed" | "failed" | "cancelled" | "paused" | "interrupted" | "running" | "queued";

export interface Entry {
  run: string;
  seq: number;
  at: number;
  time: string;
  iteration: number;
  type: string;
  data: any;
}

/** RunFile is a file of a run's input or, with a call, of a tool. Without a digest it was not kept. */
export interface RunFile {
  name: string;
  type: string;
  bytes: number;
  digest?: string;
  call?: string;
}

export interface RunLine {
  run: string;
  agent: string;
  status: Status;
  created_at: string;
  iterations: number;
  cost_usd: number | null;
  labels: Record<string, string> | null;
  /** in the queue, from 1 */
  position?: number;
  input?: string;
  answer?: string;
  waits?: Pending[];
}

export interface Span { at: string; group: string; runs: number; statuses: Record<string, number>; cost_usd: number; unpriced: number }

export interface Stats { since: string; until: string; seconds: number; spans: Span[] }

export interface Pending {
  run: string;
  kind: "approval" | "input" | "client_tool" | "doubt";
  call: string;
  tool: string;
  args: Json;
  reason: string;
  token: string;
  expires_at: string | null;
  answered_at?: string; // by a signal that the run has not read
  answered_by?: string;
}

/** A Source is what an answer cites; each of its texts may be missing. */
export interface Source { title?: string; url?: string; quote?: string }

export interface Result {
  run: string;
  agent: string;
  labels: Record<string, string>;
  thread: string | null;
  status: Status;
  answer: string;
  output: Json;
  citations: Source[];
  reason: { condition: string; leaf: string; detail: string };
  iterations: number;
  tool_calls: number;
  confidence: number | null;
  usage: { input_tokens: number; output_tokens: number; cache_read_tokens: number; cache_write_tokens: number; model_calls: number };
  cost_usd: number | null;
  price: string | null;
  elapsed_ms: number;
  resumable: boolean;
  recommended_action: string;
  pending: Pending[];
}

export interface Agent {
  name: string;
  description: string;
  model: string;
  loop: string;
  tools: string[];
  input: string;
}


export interface Decision { run: string; agent: string; seq: number; time: string; iteration: number; what: string; by: string; call?: string; tool?: string; text?: string; tokens: number; cost_usd: number | null }

export interface Amount { used: number; limit: number; unit: string; refused: boolean }

export interface Report extends Result {
  decisions: { seq: number; iteration: number; time: string; step: string; subject: string; why: string; outcome: string[] }[];
  ceilings: Record<string, Amount>;
  cost: Record<string, { model_calls: number; failed: number; input_tokens: number; output_tokens: number; cost_usd: number | null }>;
  spending: any;
  failures: { seq: number; iteration: number; purpose: string; attempt: number; class: string; message: string; retry_at: string | null }[];
  next: { command: string; why: string }[];
  goal?: any;
  causes?: Graph;
  conversation?: Leg[];
}

/** A Leg is one of the runs that one message of a person led to. */
export interface Leg { run: string; agent: string; status: string; by: string; reason: string; iterations: number; cost_usd: number | null }

export interface Graph {
  nodes: { id: string; tool?: string; iteration?: number }[];
  edges: { from: string; to: string; values: string[]; back?: boolean }[]; // back: it leads back, and places no node
  cycles?: { calls: string[] }[];
  contradictions?: { tool: string; first: string; then: string; was: string; is: string }[];
}

export interface SentPart { type: string; text?: string; title?: string; url?: string; call?: string; tool?: string; args?: Json; error?: boolean; masked?: boolean; media?: string; bytes?: number }

export interface Sent {
  run: string;
  seq: number;
  previous: number;
  iteration: number;
  purpose: string;
  attempt: number;
  model: string;
  system: string;
  messages: { role: string; parts: SentPart[]; cache?: boolean }[];
  tools: { name: string; description: string; input?: Json }[];
  output?: Json;
  max_tokens: number;
  sampling: { temperature?: number; effort?: string; options?: Record<string, Json> };
  reserved_tokens: number;
  masked: string[];
  summary?: string;
}

export interface StopNode {
  source: string;
  kind: "any" | "all" | "not" | "override" | "leaf";
  holds: boolean;
  outcome?: string;
  detail?: string;
  used?: number | null;
  limit?: number | null;
  children?: StopNode[];
}

export interface Replayed { run: string; steps: number; agrees: boolean; problem?: string }

export interface Budget {
  label: string; // empty: all runs share it
  value: string;
  per: string;
  until: string | null;
  spent_usd: number;
  reserved_usd: number;
  limit_usd: number | null;
  spent_tokens: number;
  reserved_tokens: number;
  limit_tokens: number | null;
}
