// Who decides. A token has a name or not; without one the dialog asks for it, and the log has it.

const key = "pawl-name";
let holder = ""; // the name of the token that logged in
let typed = ""; // the name of the person, which the browser keeps if it may
try {
  typed = localStorage.getItem(key) ?? "";
} catch {
  // Storage is blocked: the name holds until the page is left.
}

/** loggedInAs notes the name of the token that logged this browser in. */
export function loggedInAs(name = ""): void {
  holder = name;
}

/** person is who decides here; the server prefers the name of a token. */
export function person(): string {
  return holder || typed;
}

function setPerson(name: string): void {
  typed = name.trim();
  try {
    localStorage.setItem(key, typed);
  } catch {
    // As above.
  }
}

/** PersonField asks for the name of the person, unless the token has one. */
export function PersonField() {
  if (holder) return null;
  return (
    <div class="field">
      <label for="person">Your name, for the log</label>
      <input id="person" required pattern=".*\S.*" autocomplete="name" defaultValue={person()} onInput={(e) => setPerson(e.currentTarget.value)} />
    </div>
  );
}
