// Asks whoever has the link to an approval. Everything that an agent or a model
// said becomes text, never markup, and what acts on text without being seen in it
// is written out.
"use strict";

const at = (id) => document.getElementById(id);
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;
const show = (id, text) => { at(id).textContent = String(text).replace(hidden, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}"); };

const link = () => Object.fromEntries(["run", "call", "token"].map((k) => [k, new URLSearchParams(location.hash.slice(1)).get(k) ?? ""]));

const words = {
  approved: (r) => `Approved by ${r.by}.`,
  denied: (r) => `Denied by ${r.by}.`,
  expired: () => "The time to decide is over. When the run goes on, it asks again, by another link.",
  invalidated: () => "What this relied on has changed since. The run asks again, by another link.",
  replaced: () => "This was asked again, by another link.",
  over: () => "The run has ended. There is nothing left to decide.",
};

function state(text, done) {
  show("state", text);
  at("state").className = done ? "done" : "";
}

async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), credentials: "omit", cache: "no-store", redirect: "error",
  });
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.detail || data.title || `The server answers ${answer.status}.`);
  return data;
}

function render(r) {
  show("title", r.state === "open" ? `Approve ${r.tool}?` : r.tool);
  show("agent", r.agent);
  show("tool", r.tool);
  show("args", JSON.stringify(r.args, null, 2));
  show("reason", r.reason || "It is a rule of the agent's.");
  show("thought", r.thought);
  at("thoughts").hidden = !r.thought;
  show("run", `${r.run}, call ${r.call}`);
  at("expiry").hidden = !r.expires_at;
  if (r.expires_at) show("expires", new Date(r.expires_at).toLocaleString());
  at("request").hidden = false;
  at("form").hidden = r.state !== "open";
  if (r.state === "open") state("The run waits for you. You can decide once.");
  else state((words[r.state] ?? (() => "It cannot be decided any more."))(r), true);
}

async function look() {
  at("request").hidden = true;
  state("Looking up what is asked…");
  const l = link();
  if (!l.run || !l.call || !l.token) {
    state("This link is not whole. Open it as it was sent, with all that stands behind the #.", true);
    return;
  }
  try {
    render(await post("/v1/approvals/lookup", l));
  } catch (e) {
    state(e.message, true);
  }
}

async function decide(approve) {
  const buttons = [at("approve"), at("deny")];
  for (const b of buttons) b.disabled = true;
  const body = { ...link(), approve };
  if (!approve && at("why").value.trim()) body.reason = at("why").value.trim();
  try {
    render(await post("/v1/approvals", body));
  } catch (e) {
    await look(); // what there is to see now may say more
    if (!at("form").hidden) state(e.message, true);
  }
  for (const b of buttons) b.disabled = false;
}

at("approve").addEventListener("click", () => decide(true));
at("deny").addEventListener("click", () => decide(false));
addEventListener("hashchange", look);
look();
