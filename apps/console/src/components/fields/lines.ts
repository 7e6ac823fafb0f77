/** What is wrong with a line, in words; null when nothing is. */
export type Judge = (line: string) => string | null;

export interface Verdict {
  line: number;
  text: string;
  fault: string;
}

/** Pasted lists are cleaned: empty lines and spaces around entries go, commas and semicolons part entries as well. */
export const linesOf = (text: string) => entriesOf(text, /[\r\n,;]+/);

/** Of entries that may have commas in them. */
export const wholeLinesOf = (text: string) => entriesOf(text, /[\r\n]+/);

const entriesOf = (text: string, between: RegExp) =>
  text
    .split(between)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Each line judged at once, and those that come twice. */
export function verdictsOf(lines: readonly string[], judge: Judge, twice: string): Verdict[] {
  const seen = new Set<string>();
  return lines.flatMap((text, i) => {
    const fault = judge(text) ?? (seen.has(text) ? twice : null);
    seen.add(text);
    return fault === null ? [] : [{ line: i + 1, text, fault }];
  });
}

/** With what the schema or the server says of entries, by `2` or `2.port`, where the line itself has no fault. */
export function withRefused(
  lines: readonly string[],
  verdicts: readonly Verdict[],
  inner: ReadonlyMap<string, string>,
): Verdict[] {
  const refused = [...inner].flatMap(([path, fault]) => {
    const index = Number(path.split('.')[0]);
    const text = lines[index];
    return text !== undefined && !verdicts.some(({ line }) => line === index + 1)
      ? [{ line: index + 1, text, fault }]
      : [];
  });
  return [...verdicts, ...refused].toSorted((a, b) => a.line - b.line);
}
