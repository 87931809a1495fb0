import { useState } from "preact/hooks";
import { Dialog } from "./dialog";
import { keepView, queryOf, readFilter, views } from "./filter";

/** Views are filters by name: given ones, and those that this browser keeps. */
export function Views({ query }: { query: string }) {
  const [all, setAll] = useState(views);
  const [saving, setSaving] = useState(false);
  const [name, setName] = useState("");
  const same = (q: string) => queryOf(readFilter(new URLSearchParams(q))).toString() === query;
  const now = all.find((v) => same(v.query));
  const keep = (as: string, q: string | null) => {
    keepView(as, q);
    setAll(views());
  };
  return (
    <nav class="views" aria-label="Views">
      {all.map((v) => (
        <span class="view" key={v.name}>
          <a href={listedAt(v.query)} aria-current={v === now ? "true" : undefined}>{v.name}</a>
          {v.own && <button type="button" class="quiet small" aria-label={`Remove the view ${v.name}`} onClick={() => keep(v.name, null)}>✕</button>}
        </span>
      ))}
      {!now && query !== "status=waiting" && <button type="button" class="quiet small" onClick={() => setSaving(true)}>Save this view…</button>}
      {saving && (
        <Dialog title="Save this view" does="Save" act={() => keep(name.trim(), query)} close={() => setSaving(false)} disabled={!name.trim() || all.some((v) => !v.own && v.name === name.trim())}>
          <div class="field"><label for="view-name">Name</label><input id="view-name" data-first maxLength={40} value={name} onInput={(e) => setName(e.currentTarget.value)} /></div>
          <p class="hint">This browser keeps it. Its link works elsewhere, too.</p>
        </Dialog>
      )}
    </nav>
  );
}

const listedAt = (q: string) => (q ? `#/?${q}` : "#/");
