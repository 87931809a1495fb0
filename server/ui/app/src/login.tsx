import { useState } from "preact/hooks";
import { login, Refusal, words } from "./api";
import { Notice } from "./text";

/** Login asks for the token; failed is why the one of a link was not taken. */
export function Login({ failed }: { failed: string }) {
  const [value, setValue] = useState("");
  const [error, setError] = useState("");
  const submit = async (e: Event) => {
    e.preventDefault();
    const t = value.trim();
    if (!t) return;
    try {
      await login(t);
    } catch (e) {
      setError(refused(e));
    }
  };
  return (
    <section class="login">
      <h1>Log in</h1>
      <p>The server printed a link when it started; opening it logs this browser in. Or enter the token: the value of <code>PAWL_TOKEN</code>, of the token file, or the one the server printed.</p>
      <form onSubmit={submit}>
        <div class="field">
          <label for="token">Token</label>
          <input id="token" type="password" autocomplete="off" spellcheck={false} value={value} onInput={(e) => setValue(e.currentTarget.value)} autofocus />
        </div>
        {(error || failed) && <Notice bad>{error || failed}</Notice>}
        <button type="submit" class="primary">Log in</button>
      </form>
      <p class="hint">The server sets a cookie that no script can read. It lasts a day, or until you log out or close the browser.</p>
    </section>
  );
}

/** refused says why a token was not taken. */
export const refused = (e: unknown) => (e instanceof Refusal && e.status === 401 ? "Unknown token." : words(e));
