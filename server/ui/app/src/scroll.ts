import { parse } from "./route";

// A page opens at its top, and Back returns to the place where the page was left. Browsers do so
// for documents, not for pages that are rendered after their data has come.

let entry = 0; // of the history, which its state has
const left = new Map<number, number>();

/** keepPlaces remembers how far each page was scrolled. */
export function keepPlaces(): void {
  history.scrollRestoration = "manual";
  entry = history.state?.entry ?? Date.now();
  history.replaceState({ entry }, "");
  let before = parse(location.hash);
  addEventListener("hashchange", () => {
    left.set(entry, scrollY);
    const now = parse(location.hash);
    const same = now.page === before.page && now.run === before.run && now.other === before.other;
    before = now;
    const known = history.state?.entry as number | undefined;
    entry = known ?? Date.now();
    if (known === undefined) history.replaceState({ entry }, "");
    if (!same) void scrollWhenReady((known !== undefined && left.get(known)) || 0);
  });
}

/** scrollWhenReady scrolls as soon as the page is long enough, for two seconds at most. */
async function scrollWhenReady(to: number): Promise<void> {
  const page = location.hash;
  for (const end = performance.now() + 2000; performance.now() < end && location.hash === page; ) {
    await new Promise(requestAnimationFrame);
    scrollTo(0, to);
    if (Math.abs(scrollY - to) < 2) return;
  }
}
