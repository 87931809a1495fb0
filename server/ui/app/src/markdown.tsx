import { Lexer, type Token, type Tokens } from "marked";
import { Fragment, type ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Text } from "./text";

// The lexer reads Markdown, and its tokens become elements here: HTML in a text stays text, nothing
// is fetched, and addresses are no links, since a stranger may have chosen them.

/** Markdown is a text of a model. */
export function Markdown({ of }: { of: string }) {
  return useMemo(() => <div class="markdown">{rendered(of)}</div>, [of]);
}

// What nests deeper stays text: thousands of levels are more than the stack holds.
const deepest = 40;

function rendered(text: string): ComponentChildren {
  try {
    return all(Lexer.lex(text), 0);
  } catch {
    return <p class="prose"><Text of={text} /></p>; // the lexer nested too deep
  }
}

/** Folded shows the beginning of what is long, and all of it on demand. */
export function Folded({ what, children }: { what: string; children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const [cut, setCut] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const el = box.current!;
    const watch = new ResizeObserver(() => setCut(el.scrollHeight > el.clientHeight + 1));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  return (
    <>
      <div ref={box} class={open ? "" : `clamp ${cut ? "fades" : ""}`}>{children}</div>
      {(cut || open) && <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? `Show less of the ${what}` : `Show the whole ${what}`}</button>}
    </>
  );
}

const all = (tokens: Token[] | undefined, depth: number): ComponentChildren => tokens?.map((t, i) => <Fragment key={i}>{depth > deepest ? <Text of={t.raw} /> : one(t, depth + 1)}</Fragment>);

function one(t: Token, depth: number): ComponentChildren {
  switch (t.type) {
    case "space": return null;
    case "heading": return <p class="heading">{all(t.tokens, depth)}</p>;
    case "paragraph": return <p>{all(t.tokens, depth)}</p>;
    case "blockquote": return <blockquote>{all(t.tokens, depth)}</blockquote>;
    case "code": return <pre><Text of={t.text} /></pre>;
    case "codespan": return <code><Text of={t.text} /></code>;
    case "strong": return <strong>{all(t.tokens, depth)}</strong>;
    case "em": return <em>{all(t.tokens, depth)}</em>;
    case "del": return <del>{all(t.tokens, depth)}</del>;
    case "br": return <br />;
    case "hr": return <hr />;
    case "list": return t.ordered ? <ol start={t.start || 1}>{items(t as Tokens.List, depth)}</ol> : <ul>{items(t as Tokens.List, depth)}</ul>;
    case "table": return table(t as Tokens.Table, depth);
    case "link": return t.text === t.href ? <Text of={t.href} /> : <>{all(t.tokens, depth)} (<Text of={t.href} />)</>;
    case "image": return <Text of={`${t.text} (${t.href})`} />;
    case "escape": return <Text of={t.text} />;
    case "text": return t.tokens ? all(t.tokens, depth) : <Text of={t.text} />;
  }
  return <Text of={t.raw} />; // HTML, and what a later lexer may know
}

const items = (list: Tokens.List, depth: number) => list.items.map((item, i) => <li key={i}>{all(item.tokens, depth)}</li>);

function table(t: Tokens.Table, depth: number) {
  const cell = (c: Tokens.TableCell) => ({ class: c.align === "right" ? "num" : "", children: all(c.tokens, depth) });
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead><tr>{t.header.map((c, i) => <th key={i} scope="col" {...cell(c)} />)}</tr></thead>
        <tbody>{t.rows.map((row, i) => <tr key={i}>{row.map((c, j) => <td key={j} {...cell(c)} />)}</tr>)}</tbody>
      </table>
    </div>
  );
}
