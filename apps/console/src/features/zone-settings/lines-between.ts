const linesOf = (text: string) => text.split('\n').filter((line) => line.trim() !== '');

/** How many lines come and go. Null where only their order differs. */
export function linesBetween(before: string, after: string): { added: number; removed: number } | null {
  const added = beyond(linesOf(after), linesOf(before));
  const removed = beyond(linesOf(before), linesOf(after));
  return added + removed === 0 ? null : { added, removed };
}

/** How many of these lines the others do not have, each as often as it stands there. */
function beyond(lines: readonly string[], others: readonly string[]): number {
  const left = new Map<string, number>();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const have = left.get(line) ?? 0;
    left.set(line, have - 1);
    return have <= 0;
  }).length;
}
