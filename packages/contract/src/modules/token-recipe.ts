// How a token is written into a request, and what is signed with it: two kinds of templates, text and variables in turns.
// Who signs, who judges and who edits read them here.
import type { ErrorMessage } from '../messages.ts';

/** What a token consists of. `rand` and `user` are of the signer's choice. */
export const tokenVariables = ['time', 'sign', 'rand', 'user'] as const;
/** What may be signed. Of `time` it is the text that stands in the token. */
export const textVariables = ['key', 'path', 'decodedPath', 'uri', 'time', 'rand', 'user', 'address', 'host'] as const;
export type TextVariable = (typeof textVariables)[number];

/** Text and the name of a variable in turns, beginning with text. */
export const partsOf = (template: string, variables: readonly string[]): string[] =>
  template.split(new RegExp(`\\{(${variables.join('|')})\\}`));

const variablesOf = (template: string, variables: readonly string[]): string[] =>
  partsOf(template, variables).filter((_, i) => i % 2 === 1);

/** Bytes of a signature. */
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

/** A pattern over one place of the token, and the variables in the order of its groups. Lengths are fixed where they can be,
 *  so that one text is read in one way. */
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

/** A moment as the token says it. */
export function timeText({ timeFormat, utcOffset }: Recipe, seconds: number): string {
  if (timeFormat === 'seconds') return String(seconds).padStart(10, '0');
  if (timeFormat === 'milliseconds') return String(seconds * 1000).padStart(13, '0');
  if (timeFormat === 'hex') return seconds.toString(16).padStart(8, '0');
  const local = new Date((seconds + utcOffset * 60) * 1000).toISOString();
  return local.slice(0, 16).replace(/[-T:]/g, '');
}

/** The other way, in seconds; null where it is no moment. */
export function timeOf({ timeFormat, utcOffset }: Recipe, text: string): number | null {
  if (timeFormat === 'seconds') return Number(text);
  if (timeFormat === 'milliseconds') return Math.floor(Number(text) / 1000);
  if (timeFormat === 'hex') return Number.parseInt(text, 16);
  const [, year = '', month = '', day = '', hour = '', minute = ''] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:00Z`);
  // A thirtieth of February is a moment to some and none to others.
  const isReal = !Number.isNaN(at) && new Date(at).toISOString().startsWith(`${year}-${month}-${day}T${hour}`);
  return isReal ? at / 1000 - utcOffset * 60 : null;
}

/** What is signed, for the values of one request. */
export const signedText = (text: string, values: Readonly<Record<TextVariable, string>>): string =>
  partsOf(text, textVariables)
    .map((part, i) => (i % 2 === 1 ? values[textVariables.find((name) => name === part) ?? 'path'] : part))
    .join('');

/** One place of the token, filled in. */
export const filled = (format: string, values: Readonly<Record<string, string>>): string =>
  partsOf(format, tokenVariables)
    .map((part, i) => (i % 2 === 1 ? (values[part] ?? '') : part))
    .join('');

/** Why a recipe cannot be used: the field, and what is wrong with it. */
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

/** One signed text must come from one request: else a letter could move from the path to what the signer chose freely. */
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
