import { Lexer, type Token, type Tokens } from "marked";
import { Fragment, type ComponentChildren } from "preact";
import { Text } from "./text";

// The lexer reads Markdown, and its tokens become elements here: HTML in a text stays text, nothing
// is fetched, and addresses are no links, since a stranger may have chosen them.

/** Markdown is a text of a model. */
export function Markdown({ of }: { of: string }) {
  return <div class="markdown">{all(Lexer.lex(of))}</div>;
}

const all = (tokens: Token[] | undefined): ComponentChildren => tokens?.map((t, i) => <Fragment key={i}>{one(t)}</Fragment>);

function one(t: Token): ComponentChildren {
  switch (t.type) {
    case "space": return null;
    case "heading": return <p class="heading">{all(t.tokens)}</p>;
    case "paragraph": return <p>{all(t.tokens)}</p>;
    case "blockquote": return <blockquote>{all(t.tokens)}</blockquote>;
    case "code": return <pre><Text of={t.text} /></pre>;
    case "codespan": return <code><Text of={t.text} /></code>;
    case "strong": return <strong>{all(t.tokens)}</strong>;
    case "em": return <em>{all(t.tokens)}</em>;
    case "del": return <del>{all(t.tokens)}</del>;
    case "br": return <br />;
    case "hr": return <hr />;
    case "list": return t.ordered ? <ol start={t.start || 1}>{items(t as Tokens.List)}</ol> : <ul>{items(t as Tokens.List)}</ul>;
    case "table": return table(t as Tokens.Table);
    case "link": return t.text === t.href ? <Text of={t.href} /> : <>{all(t.tokens)} (<Text of={t.href} />)</>;
    case "image": return <Text of={`${t.text} (${t.href})`} />;
    case "escape": return <Text of={t.text} />;
    case "text": return t.tokens ? all(t.tokens) : <Text of={t.text} />;
  }
  return <Text of={t.raw} />; // HTML, and what a later lexer may know
}

const items = (list: Tokens.List) => list.items.map((item, i) => <li key={i}>{all(item.tokens)}</li>);

function table(t: Tokens.Table) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead><tr>{t.header.map((c, i) => <th key={i} scope="col">{all(c.tokens)}</th>)}</tr></thead>
        <tbody>{t.rows.map((row, i) => <tr key={i}>{row.map((c, j) => <td key={j}>{all(c.tokens)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}
