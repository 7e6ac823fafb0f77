// Formats of tokens and of signed texts: two kinds of templates, parsed into alternating text and variables. The
// signer, the verifier and the editor share this file.
import type { ErrorMessage } from '../messages.ts';

/** Variables of a token. The signer chooses `rand` and `user` freely. */
export const tokenVariables = ['time', 'sign', 'rand', 'user'] as const;
/** Variables of the signed text. `time` is the text in the token. */
export const textVariables = ['key', 'path', 'decodedPath', 'uri', 'time', 'rand', 'user', 'address', 'host'] as const;
export type TextVariable = (typeof textVariables)[number];

/** Alternating text and variable names, starting with text. */
export const partsOf = (template: string, variables: readonly string[]): string[] =>
  template.split(new RegExp(`\\{(${variables.join('|')})\\}`));

const variablesOf = (template: string, variables: readonly string[]): string[] =>
  partsOf(template, variables).filter((_, i) => i % 2 === 1);

/** Length of a signature in bytes. */
const digestBytes = {
  md5: 16,
  sha1: 20,
  sha256: 32,
  sha512: 64,
  hmacMd5: 16,
  hmacSha1: 20,
  hmacSha256: 32,
  hmacSha512: 64,
} as const;

export interface Recipe {
  place: 'query' | 'path' | 'header' | 'cookie';
  parts: { name: string; format: string }[];
  text: string;
  algorithm: keyof typeof digestBytes;
  encoding: 'hex' | 'lowerHex' | 'upperHex' | 'base64' | 'base64url';
  timeFormat: 'seconds' | 'milliseconds' | 'hex' | 'minutes';
  utcOffset: number;
}

/**
 * A pattern for one part of the token, and its variables in the order of the groups. Lengths are fixed where possible,
 * so that a text has only one interpretation.
 */
export function patternOf(format: string, recipe: Recipe): { pattern: string; names: string[] } {
  const parts = partsOf(format, tokenVariables);
  const shape: Readonly<Record<string, string>> = {
    time: timeShape[recipe.timeFormat],
    sign: signShape(recipe),
    rand: '([A-Za-z0-9_]{1,100})',
    user: '([A-Za-z0-9_]{1,100})',
  };
  const pattern = parts.map((part, i) => (i % 2 === 1 ? (shape[part] ?? '') : part.replace(/[^A-Za-z0-9]/g, '\\$&')));
  return { pattern: pattern.join(''), names: parts.filter((_, i) => i % 2 === 1) };
}

const timeShape = {
  seconds: '([0-9]{10})',
  milliseconds: '([0-9]{13})',
  hex: '([0-9A-Fa-f]{8})',
  minutes: '([0-9]{12})',
};

function signShape({ algorithm, encoding }: Recipe): string {
  const bytes = digestBytes[algorithm];
  const letters = Math.ceil((bytes * 4) / 3);
  if (encoding === 'base64') return `([A-Za-z0-9+/]{${letters}})={0,2}`;
  if (encoding === 'base64url') return `([A-Za-z0-9_-]{${letters}})={0,2}`;
  return `([${{ hex: '0-9A-Fa-f', lowerHex: '0-9a-f', upperHex: '0-9A-F' }[encoding]}]{${bytes * 2}})`;
}

/** Formats a time as in the token. */
export function timeText({ timeFormat, utcOffset }: Recipe, seconds: number): string {
  if (timeFormat === 'seconds') return String(seconds).padStart(10, '0');
  if (timeFormat === 'milliseconds') return String(seconds * 1000).padStart(13, '0');
  if (timeFormat === 'hex') return seconds.toString(16).padStart(8, '0');
  const local = new Date((seconds + utcOffset * 60) * 1000).toISOString();
  return local.slice(0, 16).replace(/[-T:]/g, '');
}

/** Parses a time of a token, in seconds. Null: invalid. */
export function timeOf({ timeFormat, utcOffset }: Recipe, text: string): number | null {
  if (timeFormat === 'seconds') return Number(text);
  if (timeFormat === 'milliseconds') return Math.floor(Number(text) / 1000);
  if (timeFormat === 'hex') return Number.parseInt(text, 16);
  const [, year = '', month = '', day = '', hour = '', minute = ''] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:00Z`);
  // Date.parse accepts February 30, which other implementations reject.
  const isReal = !Number.isNaN(at) && new Date(at).toISOString().startsWith(`${year}-${month}-${day}T${hour}`);
  return isReal ? at / 1000 - utcOffset * 60 : null;
}

/** The signed text of one request. */
export const signedText = (text: string, values: Readonly<Record<TextVariable, string>>): string =>
  partsOf(text, textVariables)
    .map((part, i) => (i % 2 === 1 ? values[textVariables.find((name) => name === part) ?? 'path'] : part))
    .join('');

/** Fills in one part of the token. */
export const filled = (format: string, values: Readonly<Record<string, string>>): string =>
  partsOf(format, tokenVariables)
    .map((part, i) => (i % 2 === 1 ? (values[part] ?? '') : part))
    .join('');

/** Errors of a recipe, by field. */
export function recipeFaults(recipe: Recipe): { path: (string | number)[]; message: ErrorMessage }[] {
  const { parts, text, algorithm } = recipe;
  const inToken = parts.flatMap(({ format }) => variablesOf(format, tokenVariables));
  const inText = variablesOf(text, textVariables);
  const faults: ReturnType<typeof recipeFaults> = [];
  const fault = (message: ErrorMessage, ...path: (string | number)[]) => faults.push({ path, message });
  for (const [i, { format }] of parts.entries()) {
    if (
      !literals[recipe.place].test(
        partsOf(format, tokenVariables)
          .filter((_, n) => n % 2 === 0)
          .join(''),
      )
    )
      fault('wrong format', 'parts', i, 'format');
    else if (/\{(?:rand|user)\}(?:\{|[A-Za-z0-9_])|[A-Za-z0-9_}]\{(?:rand|user)\}/.test(format))
      fault('a sign must stand beside {rand} and {user}', 'parts', i, 'format');
    else if (recipe.place === 'path' && /^\/|\/\/|\/$|^$/.test(format)) fault('wrong format', 'parts', i, 'format');
  }
  for (const name of ['sign', 'time'] as const)
    if (inToken.filter((one) => one === name).length !== 1) fault(`{${name}} must be there once`, 'parts');
  for (const name of ['rand', 'user'] as const) {
    if (inToken.filter((one) => one === name).length > 1) fault(`{${name}} may be there once`, 'parts');
    if (inText.includes(name) && !inToken.includes(name)) fault(`{${name}} is not in the token`, 'text');
  }
  if (!inText.some((name) => name === 'path' || name === 'decodedPath' || name === 'uri'))
    fault('{path} must be signed', 'text');
  if (!inText.includes('time')) fault('{time} must be signed', 'text');
  if (inText.includes('key') !== !algorithm.startsWith('hmac'))
    fault(algorithm.startsWith('hmac') ? 'an HMAC takes the key beside the text' : '{key} must be signed', 'text');
  if (isAmbiguous(text)) fault('a sign must stand beside {rand} and {user}', 'text');
  return faults;
}

const literals = {
  query: /^[\x21-\x7e]*$/,
  path: /^[A-Za-z0-9._~/-]*$/,
  header: /^[\x20-\x7e]*$/,
  cookie: /^[!#$%&'()*+./0-9:<=>?@A-Z[\]^_`a-z|~-]*$/,
};

const loose = ['path', 'decodedPath', 'uri', 'rand', 'user', 'address', 'host'];
const begins = ['path', 'decodedPath', 'uri'];

/**
 * Whether several requests can produce the same signed text. Characters could then move from the path to a value that
 * the signer chooses freely.
 */
function isAmbiguous(text: string): boolean {
  const parts = partsOf(text, textVariables);
  let last: string | null = null;
  let between = '';
  for (const [i, part] of parts.entries()) {
    if (i % 2 === 0) between += part;
    else if (loose.includes(part)) {
      const free = [last, part].some((name) => name === 'rand' || name === 'user');
      if (last !== null && free && !/[^A-Za-z0-9_]/.test(between) && !(begins.includes(part) && !begins.includes(last)))
        return true;
      last = part;
      between = '';
    }
  }
  return false;
}
