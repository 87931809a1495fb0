// An agent served with the official SDK, at a port that it prints. It works for
// a moment, asks when the text begins with "ask", and echoes.
import express from "express";
import { Role, TaskState } from "@a2a-js/sdk";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler } from "@a2a-js/sdk/server/express";

const part = (value) => ({ content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "text/plain" });
const cancelled = new Set();
let sent = 0;

class Echo {
  async execute({ userMessage, taskId, contextId, task }, bus) {
    const status = (state, text) => ({
      state, timestamp: new Date().toISOString(),
      message: text && { messageId: `s-${++sent}`, role: Role.ROLE_AGENT, parts: [part(text)], taskId, contextId, metadata: undefined, extensions: [], referenceTaskIds: [] },
    });
    const to = (state, text) => bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, text), metadata: {} }));
    bus.publish(AgentEvent.task(task ?? { id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED), history: [userMessage], artifacts: [], metadata: {} }));
    const text = userMessage.parts.map((p) => p.content.value).join("");
    to(TaskState.TASK_STATE_WORKING);
    do {
      await new Promise((done) => setTimeout(done, 50));
      if (cancelled.has(taskId)) {
        to(TaskState.TASK_STATE_CANCELED);
        bus.finished();
        return;
      }
    } while (text.startsWith("never"));
    if (text.startsWith("ask")) {
      to(TaskState.TASK_STATE_INPUT_REQUIRED, "which one?");
      bus.finished();
      return;
    }
    bus.publish(AgentEvent.artifactUpdate({
      taskId, contextId, append: false, lastChunk: true, metadata: {},
      artifact: { artifactId: "echo", name: "echo", description: "", parts: [part("Echo: " + text)], metadata: {}, extensions: [] },
    }));
    to(TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  }

  async cancelTask(taskId) {
    cancelled.add(taskId);
  }
}

const app = express();
const server = app.listen(0, "127.0.0.1", () => {
  const base = `http://127.0.0.1:${server.address().port}`;
  const skill = { id: "echo", name: "echo", description: "Echoes.", tags: ["test"], examples: [], inputModes: [], outputModes: [], securityRequirements: [] };
  const card = {
    name: "echo", description: "Echoes.", version: "1", provider: undefined, documentationUrl: "", iconUrl: "", signatures: [], securitySchemes: {}, securityRequirements: [],
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false }, defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"], skills: [skill],
    supportedInterfaces: [{ url: base + "/rpc", protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Echo());
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/rpc", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  console.log(base);
});
process.stdin.on("end", () => process.exit(0)).resume(); // with the test
