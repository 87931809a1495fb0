import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { words } from "./api";
import { PersonField } from "./person";
import { Notice } from "./text";

/** Dialog asks for something and does it. What it does is told by its button. */
export function Dialog(p: {
  title: string;
  does?: string;
  danger?: boolean;
  disabled?: boolean;
  act?: () => Promise<void> | void;
  close: () => void;
  children: ComponentChildren;
  wide?: boolean;
  signed?: boolean; // the log says who did it
  stay?: boolean; // when it is done, to show the outcome
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    ref.current?.showModal();
    // Where nothing is to be typed, the focus is on nothing that a key changes or does. A missing name is
    // asked for when the form is sent: its field is below what must be read first.
    (ref.current?.querySelector<HTMLElement>("[data-first]") ?? ref.current)?.focus();
    return () => before?.focus?.();
  }, []);
  const submit = async (e?: Event) => {
    e?.preventDefault();
    if (!p.act || busy || p.disabled) return;
    setBusy(true);
    setError("");
    try {
      await p.act();
      if (p.stay) setBusy(false);
      else p.close();
    } catch (err) {
      setError(words(err));
      setBusy(false);
    }
  };
  return (
    <dialog
      ref={ref}
      tabIndex={-1}
      class={p.wide ? "wide" : ""}
      aria-labelledby="dialog-title"
      onCancel={(e) => { e.preventDefault(); p.close(); }}
      onKeyDown={(e) => {
        if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
          e.preventDefault();
          e.currentTarget.querySelector("form")?.requestSubmit(); // which checks what is required
        }
        e.stopPropagation();
      }}
      onClick={(e) => e.target === ref.current && p.close()}
    >
      <form onSubmit={submit}>
        <header><h2 id="dialog-title">{p.title}</h2><button type="button" class="quiet" aria-label="Close" onClick={p.close}>✕</button></header>
        <div class="body">
          {p.children}
          {p.signed && <PersonField />}
          {error && <Notice bad>{error}</Notice>}
        </div>
        {p.does && (
          <footer>
            <span class="hint">Ctrl+Enter</span>
            <button type="button" class="quiet" onClick={p.close}>Back</button>
            <button type="submit" class={p.danger ? "danger" : "primary"} disabled={busy || p.disabled}>{busy ? "…" : p.does}</button>
          </footer>
        )}
      </form>
    </dialog>
  );
}

/** JsonField is an editor whose text must be JSON. */
export function JsonField({ id, label, value, set, rows = 8, first }: { id: string; label: string; value: string; set: (s: string) => void; rows?: number; first?: boolean }) {
  const problem = jsonProblem(value);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea id={id} class="code" rows={rows} spellcheck={false} autocomplete="off" value={value} data-first={first || undefined} aria-invalid={!!problem} aria-describedby={`${id}-problem`} onInput={(e) => set(e.currentTarget.value)} />
      <div id={`${id}-problem`} class="problem" role="status">{problem}</div>
    </div>
  );
}

export function jsonProblem(s: string): string {
  try {
    JSON.parse(s);
    return "";
  } catch (e) {
    if (!s.trim()) return "Empty: it must be JSON.";
    return `Not JSON: ${(e as Error).message.replace(/^JSON\.parse: |^Unexpected/, (m) => (m === "Unexpected" ? "unexpected" : ""))}`;
  }
}
