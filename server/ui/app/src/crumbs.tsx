import { render, type ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

/** Crumbs stand in the bar at the top, whoever draws them. */
export function Crumbs({ children }: { children?: ComponentChildren }) {
  useEffect(() => {
    const host = document.getElementById("crumbs");
    if (host) render(<>{children}</>, host);
  });
  useEffect(() => () => {
    const host = document.getElementById("crumbs");
    if (host) render(null, host);
  }, []);
  return null;
}
