// Large integers and long decimals do not fit into a JavaScript number. An approver must see and
// send them as they are written, so such a number stays a JSON.rawJSON object, which
// JSON.stringify writes unchanged. A browser without JSON.rawJSON rounds them.

const raw = JSON as unknown as { rawJSON?: (source: string) => object; isRawJSON?: (value: unknown) => value is { rawJSON: string } };

/** parseJSON parses JSON and keeps each number that JavaScript would change. */
export function parseJSON(text: string): any {
  if (!raw.rawJSON || !/[\d.]{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, function (_: string, value: unknown, context?: { source?: string }) {
    const source = context?.source;
    return typeof value === "number" && source && changed(value, source) ? raw.rawJSON!(source) : value;
  });
}

/** exactNumber returns the source of a number that parseJSON kept. */
export function exactNumber(value: unknown): string | undefined {
  return raw.isRawJSON?.(value) ? value.rawJSON : undefined;
}

// Go prints a float64 with 17 digits at most: a longer decimal is not a float64.
function changed(value: number, source: string): boolean {
  if (/^-?\d+$/.test(source)) return String(value) !== source;
  return source.replace(/e.*$/i, "").replace(/^-?[0.]*|\./g, "").length > 17;
}
