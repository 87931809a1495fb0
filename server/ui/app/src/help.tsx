import { Dialog } from "./dialog";

const groups: [string, [string, string][]][] = [
  ["Everywhere", [["?", "this help"], ["g r", "all runs"], ["T", "theme: system, light, dark"], ["Esc", "close, or leave a field"], ["Tab", "to every control"]]],
  ["Runs", [["j k", "down, up"], ["Enter", "open"], ["/", "search"], ["x", "select for an action on many"], ["n", "start a run"], ["r", "refresh"]]],
  ["A run", [["1 … 9, 0", "views, in their order"], ["a", "approve or answer the pending request"], ["d", "deny"], ["R", "resume with other limits"], ["F", "fork at the selected entry"], ["C", "cancel"], ["p", "replay: recompute every step and compare"]]],
  ["Timeline", [["j k", "down, up"], ["h l", "fold, unfold"], ["[ ]", "previous, next iteration"], ["e", "next failure"], ["Home End", "first, last"], ["Enter", "into the details"], ["f", "follow the live end"], ["z", "time axis: the whole run, or each iteration"], ["/", "find in the log"]]],
];

export function Help({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close} wide>
      <div class="keys">
        {groups.map(([name, keys]) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {keys.map(([k, what]) => (
                <div key={k}><dt>{k.split(" ").map((x) => (x === "…" ? " … " : <kbd key={x}>{x}</kbd>))}</dt><dd>{what}</dd></div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
