// Patterns of customers: the RE2 subset (no look-around, no back-references, bounded repeats), which excludes
// exponential matching time. The edge matches with PCRE and a match limit as a second safeguard.
import { patternError } from '#pcre';
import type { ErrorMessage } from '../messages.ts';

/** Position of the error, and PCRE's message. */
type CompileError = `the edge cannot compile it at character ${number}: ${string}`;

const MAX_REPEAT = 1000;

/** Error of a pattern, or null if it is valid. */
export function safePattern(pattern: string): ErrorMessage | CompileError | null {
  if (pattern.length > 1024) return 'too long';
  if (/[\0\r\n\p{Cs}]/u.test(pattern)) return 'wrong format';
  try {
    // 'u' mode rejects ambiguous escapes that PCRE and JavaScript interpret differently.
    void new RegExp(pattern, 'u');
  } catch {
    return 'wrong format';
  }
  const bare = pattern.replace(/\\[^1-9k]/g, '_').replace(/\[(?:\\.|[^\]])*\]/g, '_');
  if (/\\[1-9k]/.test(bare)) return 'back-references are not accepted';
  if (/\(\?(?!:)/.test(bare)) return 'look-around, named groups and inline flags are not accepted';
  if (/[+*?}]\+/.test(bare)) return 'possessive repeats are not accepted';
  for (const [, from = '', to = ''] of bare.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    if (Number(from) > MAX_REPEAT || Number(to) > MAX_REPEAT)
      return `repeats of more than ${MAX_REPEAT} are not accepted`;
  if (nestedRepeat(bare)) return 'a repeat within a repeat is not accepted';
  if (/\\[pPu]/.test(pattern.replaceAll('\\\\', '_'))) return 'Unicode escapes are not accepted';
  if (splitsCharacter(pattern.replace(/\\[^]/g, '_')))
    return 'in brackets and before a repeat only ASCII characters are accepted';
  const error = patternError(pattern);
  return error && `the edge cannot compile it at character ${error.offset + 1}: ${error.message}`;
}

/** The edge matches bytes, so a set or repeat would match a single byte of a multi-byte character. */
function splitsCharacter(unescaped: string): boolean {
  const set = /\[[^\]]*\]/g;
  const isBeyondAscii = (text: string) => /[^\0-\x7f]/.test(text);
  return (unescaped.match(set) ?? []).some(isBeyondAscii) || /[^\0-\x7f][?*+{]/.test(unescaped.replace(set, '_'));
}

/** Nested repeats such as `(a+)+`, which take backtracking engines exponential time. */
function nestedRepeat(bare: string): boolean {
  const open: boolean[] = [];
  let inner = false;
  for (let i = 0; i < bare.length; i += 1) {
    const char = bare[i];
    if (char === '(') {
      open.push(inner);
      inner = false;
    } else if (char === ')') {
      const repeated = /^(?:[+*]|\{\d+,\d*\})/.test(bare.slice(i + 1));
      if (inner && repeated) return true;
      const outer = open.pop() ?? false;
      inner ||= repeated || outer;
    } else if (char === '+' || char === '*' || (char === '{' && /^\{\d+,\d*\}/.test(bare.slice(i)))) inner = true;
  }
  return false;
}
