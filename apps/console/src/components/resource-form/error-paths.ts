// Finds the field of each error in a response.
import { explain, fieldErrorsOf, ruleText } from '../../lib/errors.ts';

/** Field of each "already taken" error that has no path. */
const taken: Readonly<Record<number, string>> = { 101_017: 'email', 101_025: 'name', 201_002: 'name' };

/** Path and text of each error in a response. */
export function errorsOf(error: unknown): (readonly [path: string, text: string])[] {
  const { code, text } = explain(error);
  const field = code === null ? undefined : taken[code];
  return [
    ...fieldErrorsOf(error).map(({ path, rule, message, values }) => [path, ruleText(rule, message, values)] as const),
    ...(field === undefined ? [] : [[field, text] as const]),
  ];
}

/** Maps `rules.0.value.2` of a wrapped body to `value.2` of the field `value`, or null. */
export function ownPath(path: string, fields: ReadonlySet<string>): string | null {
  const parts = path.split('.');
  for (let from = 0; from < parts.length; from += 1) {
    const rest = parts.slice(from).join('.');
    if ([...fields].some((name) => rest === name || rest.startsWith(`${name}.`))) return rest;
  }
  return null;
}
