import { useState } from "preact/hooks";
import { Refusal, setToken, words } from "./api";
import { Notice } from "./text";

export function Login() {
  const [value, setValue] = useState("");
  const [error, setError] = useState("");
  const submit = async (e: Event) => {
    e.preventDefault();
    const t = value.trim();
    if (!t) return;
    const r = await fetch("/v1/agents", { headers: { Authorization: `Bearer ${t}` }, credentials: "omit", cache: "no-store" }).catch(() => null);
    if (!r) return setError(words(new Refusal(0, "", "")));
    if (r.status === 401) return setError("The server does not know this token.");
    setToken(t);
  };
  return (
    <section class="login">
      <h1>Log in</h1>
      <p>The server printed a link when it started; opening it logs this browser in. Or enter the token: the value of <code>PAWL_TOKEN</code>, of the token file, or the one that was printed.</p>
      <form onSubmit={submit}>
        <div class="field">
          <label for="token">Token</label>
          <input id="token" type="password" autocomplete="off" spellcheck={false} value={value} onInput={(e) => setValue(e.currentTarget.value)} autofocus />
        </div>
        {error && <Notice bad>{error}</Notice>}
        <button type="submit" class="primary">Log in</button>
      </form>
      <p class="hint">The token is kept in this browser's storage until you log out. No cookie is set.</p>
    </section>
  );
}
