import { canonicalNetwork } from '@edgeloom/contract/common/address.ts';

/** Returns the error of a line, or null. */
export type Judge = (line: string) => string | null;

export interface Verdict {
  line: number;
  text: string;
  fault: string;
}

/** Splits pasted text at line breaks, commas and semicolons, and trims entries. */
export const linesOf = (text: string) => entriesOf(text, /[\r\n,;]+/);

/** Splits at line breaks only, for entries that may contain commas. */
export const wholeLinesOf = (text: string) => entriesOf(text, /[\r\n]+/);

const entriesOf = (text: string, between: RegExp) =>
  text
    .split(between)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Errors of all lines, including duplicates. An address is a duplicate in any spelling. */
export function verdictsOf(lines: readonly string[], judge: Judge, twice: string): Verdict[] {
  const seen = new Set<string>();
  return lines.flatMap((text, i) => {
    const spelled = canonicalNetwork(text);
    const fault = judge(text) ?? (seen.has(spelled) ? twice : null);
    seen.add(spelled);
    return fault === null ? [] : [{ line: i + 1, text, fault }];
  });
}

/** Adds errors from the schema or server (`2` or `2.port`) to lines without an error of their own. */
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
