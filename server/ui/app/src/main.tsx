import { render } from "preact";
import { useEffect, useErrorBoundary, useState } from "preact/hooks";
import { AgentsPage } from "./agents";
import { inside, login, logout, onLogin } from "./api";
import { BudgetsPage } from "./budgets";
import { Compare } from "./compare";
import { DecisionsPage } from "./decisions";
import { Help } from "./help";
import { useKeys } from "./keys";
import { Login, refused } from "./login";
import { Nav } from "./nav";
import { go, home, link, usePlace, type Place } from "./route";
import { Runs } from "./runs";
import { RunPage } from "./run";
import { keepPlaces } from "./scroll";
import { StatsPage } from "./stats";
import { Notice } from "./text";
import { applyTheme, nextTheme, theme } from "./theme";
import "./style/base.css";
import "./style/parts.css";
import "./style/runs.css";
import "./style/run.css";
import "./style/timeline.css";
import "./style/views.css";

// A login link has the token in its fragment, which browsers do not send. Remove it from
// the address first.
function takeToken(): string | null {
  const m = /^#token=([^&]+)(?:&run=([^&]+))?/.exec(location.hash);
  if (!m) return null;
  history.replaceState(null, "", m[2] ? `/${link(decodeURIComponent(m[2]))}` : "/#/");
  return decodeURIComponent(m[1]);
}

let enter: (token: string) => void = () => {};
const handed = takeToken();
addEventListener("hashchange", () => {
  const token = takeToken();
  if (token) enter(token);
});
applyTheme();
keepPlaces();

function App() {
  const [known, setKnown] = useState<boolean | null>(null); // null: unknown yet
  const [failed, setFailed] = useState(""); // why the token of a link was not taken
  const [help, setHelp] = useState(false);
  const [look, setLook] = useState(theme());
  const place = usePlace();
  useEffect(() => {
    onLogin((is) => {
      setKnown(is);
      if (is) setFailed("");
    });
    enter = (token) => void login(token).catch((e) => {
      setFailed(refused(e));
      return logout();
    });
    if (handed) enter(handed);
    else void inside().then(setKnown, () => setKnown(false));
  }, []);
  const turn = () => setLook(nextTheme());
  useKeys({
    "?": () => setHelp(true),
    "g r": () => go(home()),
    T: turn,
  }, 0);
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to content</a>
      <header class="top">
        <a class="home" href={link()} aria-label="Pawl, all runs">
          <svg viewBox="0 0 32 24" aria-hidden="true"><path class="teeth" d="M1 23V13l7 6v-6l7 6v-6l7 6v-6l8 7v3z" /><path class="pawl" d="M4 3l9 7h4" /><circle class="pivot" cx="4" cy="3" r="2.4" /></svg>
          <span>Pawl</span>
        </a>
        {known && <Nav place={place} />}
        <div class="tools">
          <button type="button" class="quiet" onClick={turn} title="Theme (T)"><span class="what">Theme: </span><span class="look">{look}</span><span class="sr"> theme</span></button>
          <button type="button" class="quiet keys-button" onClick={() => setHelp(true)} title="Keys (?)" aria-label="Keys">?</button>
          {known && <button type="button" class="quiet" onClick={() => void logout()}>Log out</button>}
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {known === null ? null : known ? <Page place={place} /> : <Login failed={failed} />}
      </main>
      {help && <Help close={() => setHelp(false)} />}
    </>
  );
}

// A page that fails says so, and leaves the others as they are.
function Page({ place }: { place: Place }) {
  const [error, reset] = useErrorBoundary();
  useEffect(reset, [place]);
  if (error) return <div class="alone"><Notice bad>This page cannot be shown: {String(error.message)}.</Notice></div>;
  switch (place.page) {
    case "stats": return <StatsPage query={place.query} />;
    case "decisions": return <DecisionsPage query={place.query} />;
    case "budgets": return <BudgetsPage />;
    case "agents": return <AgentsPage />;
    case "compare": return <Compare key={place.run + place.other} a={place.run} b={place.other} />;
    case "run": return <RunPage key={place.run} place={place} />;
  }
  return <Runs query={place.query} />;
}

render(<App />, document.getElementById("app")!);
