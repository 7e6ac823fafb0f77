// Redirects as a spreadsheet has them: source, target, code, type. Only the first two are asked for.
import { RedirectInput, RedirectType } from '@edgeloom/contract/modules/redirects.ts';
import type * as z from 'zod';
import { issuesOf, type Issue } from '../../lib/schema.ts';

export interface ReadLine {
  n: number;
  source: string;
  input: z.input<typeof RedirectInput>;
  issue: Issue | null;
}

// What an export puts before a cell that a spreadsheet would calculate.
const bare = (cell: string | undefined) =>
  (cell ?? '')
    .replace(/^\uFEFF/, '')
    .replace(/^'(?=[=+\-@])/, '')
    .trim();
const codeOf = (text: string) => ([301, 302, 307, 308] as const).find((code) => String(code) === text);

/** A first line of titles is passed over: nothing that a source could be. */
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
