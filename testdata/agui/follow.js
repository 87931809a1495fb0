// Follows a run, or runs an agent for the messages given, with the protocol's own client, which
// checks the form of every event and the order they come in, and prints what it has made of them.
import { HttpAgent } from "@ag-ui/client";

class Follower extends HttpAgent {
  requestInit(input) {
    if (said) return super.requestInit(input);
    return { method: "GET", headers: { ...this.headers, Accept: "text/event-stream" }, signal: this.abortController.signal };
  }
}

const [url, token, said] = process.argv.slice(2);
const { messages, resume } = JSON.parse(said ?? "{}");
const agent = new Follower({ url, threadId: "t1", initialMessages: messages, headers: { Authorization: `Bearer ${token}` } });
const events = [];
let failed = "";
let outcome = null;
try {
  await agent.runAgent(resume ? { resume } : {}, {
    onEvent: ({ event }) => void events.push(event),
    onRunFinishedEvent: (of) => void (outcome = of.outcome ?? of.event?.outcome ?? null),
    onRunFailed: ({ error }) => void (failed = String(error?.message ?? error)),
  });
} catch (error) {
  failed ||= String(error?.message ?? error);
}
console.log(JSON.stringify({ types: events.map((e) => e.type), outcome, failed, messages: agent.messages, state: agent.state, events }));
