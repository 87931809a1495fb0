import type { Log } from "./fold";
import { link } from "./route";
import { Text } from "./text";

/** A Change is a note of a board: what a call of a run did. */
export interface Change { do: string; run: string; call: string; tasks?: string[]; task?: string; text?: string }

interface Task { id: string; text: string; status: string; by: string; result: string }

/** changed says a change in words, as pawl explain does. */
export function changed(c: Change): string {
  const who = c.run.includes(".") ? c.run.slice(c.run.indexOf(".") + 1) : "the run itself";
  switch (c.do) {
    case "add": return `${who} adds ${(c.tasks ?? []).join("; ")}`;
    case "claim": return `${who} claims ${c.task}`;
    case "finish": return `${who} finishes ${c.task}: ${c.text}`;
  }
  return `${who} drops ${c.task}: ${c.text}`;
}

/** tasks are those of the board as they stand: a claim ends with the run that made it. */
function tasks(log: Log): Task[] {
  const list: Task[] = [];
  for (const c of log.board) {
    for (const text of c.tasks ?? []) list.push({ id: `t${list.length + 1}`, text, status: "open", by: "", result: "" });
    const t = list.find((t) => t.id === c.task);
    if (!t || c.do === "add") continue;
    t.status = c.do === "claim" ? "claimed" : c.do === "finish" ? "done" : "dropped";
    [t.by, t.result] = [c.run, c.text ?? ""];
  }
  for (const t of list) {
    const call = log.call(t.by.slice(t.by.lastIndexOf(".") + 1));
    if (t.status === "claimed" && t.by.includes(".") && call && call.state !== "open" && call.state !== "held") [t.status, t.by] = ["open", ""];
  }
  return list;
}

/** Board shows the tasks that an agent shares with its workers. */
export function Board({ log }: { log: Log }) {
  if (!log.board.length) return null;
  return (
    <section class="board">
      <h2>Board</h2>
      <table class="plain">
        <thead><tr><th scope="col">Task</th><th scope="col">is</th><th scope="col">by</th><th scope="col">Result</th></tr></thead>
        <tbody>
          {tasks(log).map((t) => (
            <tr key={t.id}>
              <td><span class="mono id">{t.id}</span> <Text of={t.text} /></td>
              <td>{t.status}</td>
              <td class="mono">{t.by.includes(".") ? <a href={link(t.by)}>{t.by.slice(t.by.indexOf(".") + 1)}</a> : t.by && "the run itself"}</td>
              <td><Text of={t.result} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
