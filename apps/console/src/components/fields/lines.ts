/** What is wrong with a line, in words; null when nothing is. */
export type Judge = (line: string) => string | null;

export interface Verdict {
  line: number;
  text: string;
  fault: string;
}

/** Pasted lists are cleaned: empty lines and spaces around entries go, commas and semicolons part entries as well. */
export const linesOf = (text: string) =>
  text
    .split(/[\r\n,;]+/)
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
