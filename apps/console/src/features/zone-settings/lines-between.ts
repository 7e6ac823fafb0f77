const linesOf = (text: string) => text.split('\n').filter((line) => line.trim() !== '');

/** Number of added and removed lines, or 'moved' if only the order differs. Null if only empty lines differ. */
export function linesBetween(before: string, after: string): { added: number; removed: number } | 'moved' | null {
  const [had, has] = [linesOf(before), linesOf(after)];
  const [added, removed] = [beyond(has, had), beyond(had, has)];
  if (added + removed > 0) return { added, removed };
  return had.join('\n') === has.join('\n') ? null : 'moved';
}

/** Number of lines that the other text lacks, counting duplicates. */
function beyond(lines: readonly string[], others: readonly string[]): number {
  const left = new Map<string, number>();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const have = left.get(line) ?? 0;
    left.set(line, have - 1);
    return have <= 0;
  }).length;
}
