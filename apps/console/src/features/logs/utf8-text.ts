// Texts in which the node writes bytes that are no printable ASCII as `\xHH`, and a backslash as `\x5C`.

/** Several bytes that have the form of one character in UTF-8. */
const SEQUENCES = /\\x[CD][\dA-F]\\x[89AB][\dA-F]|\\xE[\dA-F](?:\\x[89AB][\dA-F]){2}|\\xF[0-7](?:\\x[89AB][\dA-F]){3}/g;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Null: no character has these bytes. */
function characterOf(sequence: string): string | null {
  const bytes = sequence
    .slice(2)
    .split('\\x')
    .map((hex) => Number.parseInt(hex, 16));
  try {
    return decoder.decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

/** Characters in place of their bytes. Bytes of no character stay escaped. */
export const utf8Text = (escaped: string): string =>
  escaped.replaceAll(SEQUENCES, (sequence) => characterOf(sequence) ?? sequence);

/** The texts before, within and after a match. A character that is partly within the match is within it. */
export function utf8Parts(escaped: string, from: number, to: number): [before: string, match: string, after: string] {
  const characters = [...escaped.matchAll(SEQUENCES)].filter(([sequence]) => characterOf(sequence) !== null);
  const around = (offset: number) => {
    const found = characters.find(({ 0: { length }, index }) => index < offset && offset < index + length);
    return found && { start: found.index, end: found.index + found[0].length };
  };
  const start = around(from)?.start ?? from;
  const end = to > from ? (around(to)?.end ?? to) : start;
  return [utf8Text(escaped.slice(0, start)), utf8Text(escaped.slice(start, end)), utf8Text(escaped.slice(end))];
}
