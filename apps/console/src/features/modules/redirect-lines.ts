// Redirects from a spreadsheet: source, target, code, type. Code and type are optional.
import { RedirectInput, RedirectType } from '@edgeloom/contract/modules/redirects.ts';
import type * as z from 'zod';
import { issuesOf, type Issue } from '../../lib/schema.ts';

export interface ReadLine {
  n: number;
  source: string;
  input: z.input<typeof RedirectInput>;
  issue: Issue | null;
}

// Removes the prefix that exports put before formulas.
const bare = (cell: string | undefined) =>
  (cell ?? '')
    .replace(/^\uFEFF/, '')
    .replace(/^'(?=[=+\-@])/, '')
    .trim();
const codeOf = (text: string) => ([301, 302, 307, 308] as const).find((code) => String(code) === text);

/** Skips a header line, in which the first cell is not a valid source. */
export function readRedirects(rows: readonly (readonly string[])[]): ReadLine[] {
  return rows.flatMap((cells, i): ReadLine[] => {
    const [source = '', target = '', code = '', kind = ''] = [0, 1, 2, 3].map((at) => bare(cells[at]));
    if (source === '' && target === '') return [];
    if (i === 0 && !/[/^]/.test(source)) return [];
    const type = RedirectType.options.find((one) => one === kind) ?? (source.startsWith('^') ? 'regex' : 'exact');
    const input = { type, source, target, ...(code !== '' && { code: codeOf(code) ?? 301 }) };
    const wrong =
      code !== '' && !codeOf(code) ? { path: 'code', rule: 'format', message: 'wrong format', values: {} } : null;
    return [{ n: i + 1, source, input, issue: wrong ?? issuesOf(RedirectInput, input)[0] ?? null }];
  });
}
