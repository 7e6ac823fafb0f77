const linesOf = (text: string) => text.split('\n').filter((line) => line.trim() !== '');

/** How many lines come and go, or that they only stand otherwise. Null where nothing but empty ones differs. */
export function linesBetween(before: string, after: string): { added: number; removed: number } | 'moved' | null {
  const [had, has] = [linesOf(before), linesOf(after)];
  const [added, removed] = [beyond(has, had), beyond(had, has)];
  if (added + removed > 0) return { added, removed };
  return had.join('\n') === has.join('\n') ? null : 'moved';
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
