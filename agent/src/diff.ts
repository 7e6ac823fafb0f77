// A line diff of two texts for people. Longest common subsequence, for files of some hundred lines.

/** Unchanged lines begin with a space, others with `-` or `+`. Unchanged lines far from a change are only counted. */
export function diffLines(before: string, after: string, around = 2): string[] {
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  const width = fresh.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: string[] = [];
  for (let i = 0, j = 0; i < old.length || j < fresh.length;) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      lines.push(` ${old[i]}`);
      i += 1;
      j += 1;
    } else if (i < old.length && (j === fresh.length || at(i + 1, j) >= at(i, j + 1))) lines.push(`-${old[i++]}`);
    else lines.push(`+${fresh[j++]}`);
  }
  return fold(lines, around);
}

function fold(lines: readonly string[], around: number): string[] {
  const isNear = lines.map((_, i) =>
    lines.slice(Math.max(0, i - around), i + around + 1).some((line) => line[0] !== ' '),
  );
  return lines.flatMap((line, i) => {
    if (isNear[i] === true) return [line];
    if (i > 0 && isNear[i - 1] === false) return [];
    const end = isNear.indexOf(true, i);
    return [`@ ${(end < 0 ? lines.length : end) - i} lines`];
  });
}

/** Diffs two sets of files. */
export function diffFiles(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) => {
    const [old, fresh] = [before.get(name), after.get(name)];
    if (old === fresh) return [];
    const what = old === undefined ? ' (new)' : fresh === undefined ? ' (gone)' : '';
    return [`${name}${what}`, ...diffLines(old ?? '', fresh ?? '')];
  });
}
