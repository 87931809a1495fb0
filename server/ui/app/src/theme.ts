// The theme is the system's unless the user chose one.
const KEY = "pawl.theme";
export type Theme = "auto" | "light" | "dark";

export function theme(): Theme {
  try {
    const t = localStorage.getItem(KEY);
    return t === "light" || t === "dark" ? t : "auto";
  } catch {
    return "auto";
  }
}

export function applyTheme(t = theme()): void {
  document.documentElement.dataset.theme = t;
}

export function nextTheme(): Theme {
  const all: Theme[] = ["auto", "light", "dark"];
  const t = all[(all.indexOf(theme()) + 1) % 3];
  try {
    localStorage.setItem(KEY, t);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  applyTheme(t);
  return t;
}
