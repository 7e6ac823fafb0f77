// The URLs that a rule applies to: by extension, path, prefix or pattern.
//
// The edge compares nginx's decoded path: without host and query, without empty and dot segments. Paths are stored
// decoded, except for characters that a form or a second save would misread. They are decoded fully for the edge.
import * as z from 'zod';
import type { ErrorMessage } from '../messages.ts';
import { canMatchPath } from './pattern-start.ts';
import { safePattern } from './pattern.ts';

const MAX_PATH = 2048;
/** A path as a whole, its beginning, or any part of it. */
type Extent = 'whole' | 'start' | 'part';

/** Why no request can have this path, or null. `any`: the edge compares escapes of other encodings, too. */
export function pathError(
  text: string,
  extent: Extent = 'whole',
  encoding: 'UTF-8' | 'any' = 'UTF-8',
): ErrorMessage | null {
  if (extent !== 'part' && !text.startsWith('/')) return 'a path starts with / and names no host';
  if (/[?#]/.test(text)) return 'a path contains no ? and no #';
  if (text.includes('*')) return 'a path contains no wildcard';
  const path = decoded(text) ?? (encoding === 'any' && !hasStrayPercent(text) ? pathKey(text) : null);
  if (path === null) return 'a path contains only escapes in UTF-8';
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(path)) return 'wrong format';
  // A prefix may end within a segment: /. is how /.well-known begins.
  if (extent === 'whole' ? /\/\/|\/\.\.?(?:\/|$)/.test(path) : /\/\/|\/\.\.?\//.test(path))
    return 'a path contains no empty and no dot segments';
  return storedPath(text).length > MAX_PATH ? 'too long' : null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

export const hasStrayPercent = (text: string) => /%(?![0-9a-f]{2})/i.test(text);

/** The path as the edge compares it. Older rows may contain a stray %, which is compared as written. */
export const decodedPath = (text: string): string => decoded(text) ?? text;

/**
 * The path as a key of redirects and purges: decoded. A path whose bytes are not UTF-8 keeps its escapes, since JSON
 * cannot contain these bytes, and gets a leading %, with which no other key begins. The edge decodes it (spelling.lua).
 */
export const pathKey = (text: string): string => decoded(text) ?? `%${normalizeEscapes(text)}`;

/** One spelling for each path: %, ? and bytes outside of ASCII are escaped, all else is decoded. */
const normalizeEscapes = (text: string) =>
  text
    .replace(/[^\p{ASCII}\p{Cs}]/gu, (char) => encodeURIComponent(char))
    .replace(/%[0-9a-f]{2}/gi, (code) =>
      /^%(?:[89a-f]|25|3f)/i.test(code) ? code.toUpperCase() : decodeURIComponent(code),
    );

/** A path with this key. */
export const pathOfKey = (key: string): string =>
  key.startsWith('%') ? key.slice(1) : key.replace(/[%?]/g, (char) => encodeURIComponent(char));

/** The one spelling that is stored. A stored path stays the same when it is saved again. */
export const storedPath = (text: string): string =>
  decoded(text)?.replace(/[%?#*\s]/g, (char) => (char === '*' ? '%2A' : encodeURIComponent(char))) ?? text;

const pathSchema = (extent: Extent) =>
  z
    .string()
    .trim()
    .max(MAX_PATH)
    .superRefine((text, ctx) => {
      const message = pathError(text, extent);
      if (message) ctx.addIssue({ code: 'custom', message });
    })
    .overwrite((text) => (pathError(text, extent) ? text : storedPath(text)));
const Path = pathSchema('whole');
export const PathPrefix = pathSchema('start');

/** Error of a pattern over the path, or null if some path can match. */
export function pathPatternError(pattern: string): ReturnType<typeof safePattern> {
  const error = safePattern(pattern);
  if (error) return error;
  if (!canMatchPath(pattern)) return 'a path starts with / and names no host';
  // Another alternative may match.
  if (pattern.includes('|')) return null;
  const needed = withoutOptional(pattern.replace(/\[(?:\\.|[^\]])*\]/g, '_'));
  // A path that was escaped twice has escapes of these characters after decoding, which security rules look for.
  if (/%(?!00|25|2e|2f|5c)[0-9a-f]{2}/i.test(needed)) return 'a pattern of the decoded path contains no escapes';
  if (/\\\?/.test(needed)) return 'a pattern of the path contains no query';
  const plain = needed.replace(/\\([./-])/g, '$1');
  // A pattern without ^ may match a host within the path, as of a proxy for other sites.
  return plain.includes('//') ? 'a path starts with / and names no host' : null;
}

/** The pattern without characters and groups that may be absent from a match. */
function withoutOptional(pattern: string): string {
  const optional = /(?:\\.|\((?:\\.|[^()\\])*\)|[^\\()])(?:[?*]|\{0(?:,\d*)?\})\??/g;
  // Literal parentheses would break the search for groups.
  const shorter = pattern.replace(/\\[()]/g, '_').replace(optional, '');
  return shorter === pattern ? pattern : withoutOptional(shorter);
}

/** A pattern over the path. Empty: all paths. */
export const PathPattern = z
  .string()
  .trim()
  .max(1024)
  .superRefine((pattern, ctx) => {
    const message = pattern === '' ? null : pathPatternError(pattern);
    if (message) ctx.addIssue({ code: 'custom', message });
  });

const Extension = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9_-]{1,16}(\.[a-z0-9_-]{1,16})?$/, {
    message: 'an extension such as jpg or tar.gz' satisfies ErrorMessage,
  });

export const PathType = z
  .enum(['all', 'fileType', 'url', 'prefix', 'regex'])
  .describe(
    'What of a request is compared: nothing, the extension, the whole path, how the path begins, or a pattern over the path',
  );
export const PathValues = z
  .array(z.string().trim().min(1).max(MAX_PATH))
  .max(200)
  .describe('Extensions, paths, or one pattern. Paths are compared decoded and may be entered with escapes');

export interface Paths {
  type: z.output<typeof PathType>;
  value: string[];
}

const element = { fileType: Extension, url: Path, prefix: PathPrefix, regex: z.string() };

/** Validates the values for their type. */
export function checkPaths({ type, value }: Paths, ctx: z.RefinementCtx): void {
  if (type === 'all') {
    if (value.length > 0) ctx.addIssue({ code: 'custom', path: ['value'], message: 'wrong format' });
    return;
  }
  if (value.length === 0) ctx.addIssue({ code: 'custom', path: ['value'], message: 'required' });
  for (const [i, text] of value.entries()) {
    const issue = element[type].safeParse(text).error?.issues[0];
    if (issue) ctx.addIssue({ code: 'custom', path: ['value', i], message: issue.message });
  }
  if (type === 'regex') {
    const fault = value.length > 1 ? 'one pattern only' : pathPatternError(value[0] ?? '');
    if (fault) ctx.addIssue({ code: 'custom', path: ['value', 0], message: fault });
  }
}

/** Values in the form that is stored. */
export function storedPaths<Rule extends Paths>(rule: Rule): Rule {
  if (rule.type === 'all') return rule;
  const schema = element[rule.type];
  return { ...rule, value: rule.value.map((text) => schema.safeParse(text).data ?? text) };
}

/** Stored values as the edge compares them. */
export function comparedValues({ type, value }: Paths): string[] {
  if (type === 'fileType') return value.map((extension) => extension.toLowerCase());
  return type === 'url' || type === 'prefix' ? value.map(decodedPath) : value;
}

/** Whether the rule applies to a decoded path, as core/paths.lua. */
export function isAboutPath(rule: Paths, path: string): boolean {
  const values = comparedValues(rule);
  switch (rule.type) {
    case 'all':
      return true;
    case 'url':
      return values.includes(path);
    case 'prefix':
      return values.some((start) => path.startsWith(start));
    case 'fileType': {
      const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
      const parts = name.split('.').slice(1);
      return values.includes(parts.at(-1) ?? '') || (parts.length > 1 && values.includes(parts.slice(-2).join('.')));
    }
    case 'regex':
      return values.some((pattern) => new RegExp(pattern, 'u').test(path));
  }
}
