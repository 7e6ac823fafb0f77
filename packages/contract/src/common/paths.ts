// The URLs that a rule applies to: by extension, path, prefix or pattern.
import * as z from 'zod';
import { safePattern } from './pattern.ts';

export const Path = z
  .string()
  .trim()
  .max(2048)
  .regex(/^\/[^\s?#\p{Cc}\p{Cs}]*$/u, { message: 'wrong format' });
const Extension = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9_-]{1,16}(\.[a-z0-9_-]{1,16})?$/, { message: 'wrong format' });

export const PathType = z
  .enum(['all', 'fileType', 'url', 'prefix', 'regex'])
  .describe(
    'What of a request is compared: nothing, the extension, the whole path, how the path begins, or a pattern over the path',
  );
export const PathValues = z
  .array(z.string().trim().min(1).max(2048))
  .max(200)
  .describe('Extensions, paths, or one pattern');

export interface Paths {
  type: z.output<typeof PathType>;
  value: string[];
}

const element = { fileType: Extension, url: Path, prefix: Path, regex: z.string() };

/** Validates the values for their type. */
export function checkPaths({ type, value }: Paths, ctx: z.RefinementCtx): void {
  if (type === 'all') {
    if (value.length > 0) ctx.addIssue({ code: 'custom', path: ['value'], message: 'wrong format' });
    return;
  }
  if (value.length === 0) ctx.addIssue({ code: 'custom', path: ['value'], message: 'required' });
  for (const [i, text] of value.entries())
    if (!element[type].safeParse(text).success)
      ctx.addIssue({ code: 'custom', path: ['value', i], message: 'wrong format' });
  if (type === 'regex') {
    const fault = value.length > 1 ? 'one pattern only' : safePattern(value[0] ?? '');
    if (fault) ctx.addIssue({ code: 'custom', path: ['value', 0], message: fault });
  }
}

/** The edge compares extensions in lower case. */
export const asCompared = <Rule extends Paths>(rule: Rule): Rule =>
  rule.type === 'fileType' ? { ...rule, value: rule.value.map((extension) => extension.toLowerCase()) } : rule;
