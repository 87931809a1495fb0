// Calls a server with the official client, and prints what it got.
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { AgentCard, SendMessageRequest, TaskState } from "@a2a-js/sdk";

const [base, token, release] = process.argv.slice(2);
const withToken = (url, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set("Authorization", `Bearer ${token}`);
  return fetch(url, { ...init, headers });
};

const card = await new DefaultAgentCardResolver().resolve(base);
const holder = await new DefaultAgentCardResolver().resolve(base + "/a2a/agents/holder/");

let sent = 0;
const message = (prefix, more = {}) => SendMessageRequest.fromJSON({
  message: { messageId: `${prefix}-${process.pid}-${++sent}`, role: "ROLE_USER", parts: [{ text: "go" }], ...more },
});
const state = (task) => TaskState[task.status.state];
const textOf = (task) => task.artifacts.flatMap((a) => a.parts).map((p) => p.content.value).join("");
const failed = (promise) => promise.then(() => "", (error) => error.constructor.name + " " + error.name);

async function collect(stream) {
  const all = [];
  for await (const { payload } of stream) {
    switch (payload.$case) {
      case "task": all.push("task " + state(payload.value)); break;
      case "statusUpdate": all.push("status " + state(payload.value)); break;
      case "artifactUpdate": all.push("artifact " + payload.value.artifact.parts[0].content.value); break;
      default: all.push(payload.$case);
    }
  }
  return all;
}

const got = {};
const factory = new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
  transports: [new JsonRpcTransportFactory({ fetchImpl: withToken })], preferredTransports: ["JSONRPC"],
}));
const client = await factory.createFromAgentCard(card);
const done = await client.sendMessage(message("tck-complete-task"));
got.send = [state(done), textOf(done)];
got.get = state(await client.getTask({ tenant: "", id: done.id }));
got.stream = await collect(client.sendMessageStream(message("tck-stream-001")));
const asks = await client.sendMessage(message("tck-input-required"));
got.asks = [state(asks), asks.status.message.parts[0].content.value];
got.list = (await client.listTasks({ tenant: "", contextId: asks.contextId, pageToken: "", status: 0 })).tasks.map((t) => t.id === asks.id);
const stream = client.resubscribeTask({ tenant: "", id: asks.id });
const first = await stream.next();
got.subscribed = state(first.value.payload.value);
const answered = await client.sendMessage(message("answer", { taskId: asks.id }));
got.answered = [state(answered), textOf(answered)];
got.rest = await collect(stream);
const other = await client.sendMessage(message("tck-input-required"));
got.cancelled = state(await client.cancelTask({ tenant: "", id: other.id, metadata: undefined }));
got.twice = await failed(client.cancelTask({ tenant: "", id: other.id, metadata: undefined }));
got.unknown = await failed(client.getTask({ tenant: "", id: "no-such-task" }));
got.ended = await failed(client.sendMessage(message("more", { taskId: done.id })));
// A task at work reads what it is told, and can be cancelled.
const busy = await factory.createFromAgentCard(holder);
const begin = () => busy.sendMessage({ ...message("work"), configuration: { acceptedOutputModes: [], returnImmediately: true } });
const work = await begin();
const told = busy.resubscribeTask({ tenant: "", id: work.id });
const said = await busy.sendMessage({ ...message("say", { taskId: work.id, parts: [{ text: "hurry" }] }), configuration: { acceptedOutputModes: [], returnImmediately: true } });
got.said = [state(work), said.id === work.id, state(said)];
await told.next();
await fetch(release);
got.heard = await collect(told);
got.stopped = state(await busy.cancelTask({ tenant: "", id: (await begin()).id, metadata: undefined }));
got.card = (await client.getAgentCard()).skills.map((s) => s.id);
console.log(JSON.stringify({ name: card.name, out: got, card: AgentCard.toJSON(card) }));
