// Files of offline licenses: canonical JSON (RFC 8785) with an Ed25519 signature of `license` as it is in the file. A
// file has exactly one spelling, so that a changed byte is noticed even where JSON and base64 would not care.
import { createPrivateKey, sign, verify, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { readPublicKeys } from '@edgeloom/contract/edge/signatures.ts';
import type { ErrorRule } from '@edgeloom/contract/errors.ts';
import { LicenseFile, SignedTerms } from '@edgeloom/contract/licenses/offline-licenses.ts';
import type { Env } from './env.ts';
import { fail, fieldError } from './fail.ts';

/** Sorted keys and no white space. Licenses contain no fractions, whose text RFC 8785 also fixes. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`;
}

export function signLicense(terms: SignedTerms, key: KeyObject): string {
  const license = z.encode(SignedTerms, terms);
  const signature = sign(null, Buffer.from(canonicalJson(license)), key).toString('base64');
  return canonicalJson({ license, signature });
}

/** The terms of a file that one of the keys signed. Fails otherwise. */
export function openLicense(text: string, keys: readonly KeyObject[]): SignedTerms {
  if (text.trim() === '') fail('LICENSE_NOT_FOUND');
  const file = parseFile(text);
  const { success, data } = LicenseFile.safeParse(file);
  if (!success || canonicalJson(file) !== text) return rejectLicense('licenseFormat');
  const { license, signature } = data;
  const bytes = Buffer.from(signature, 'base64');
  // The schema may change a value, such as the space around a text.
  const signed = Buffer.from(canonicalJson(z.object({ license: z.unknown() }).parse(file).license));
  const isSigned = bytes.toString('base64') === signature && keys.some((key) => verify(null, signed, key, bytes));
  return isSigned ? license : rejectLicense('licenseSignature');
}

/** Fails with the reason beside the field. */
export const rejectLicense = (rule: ErrorRule, values?: Record<string, string>): never =>
  fail('ILLEGAL_LICENSE', { errorData: [fieldError('license', rule, '', values)] });

function parseFile(text: string): unknown {
  try {
    const file: unknown = JSON.parse(text);
    // JSON.parse keeps the last of equal keys, and other programs the first.
    if (hasDuplicateKeys(text)) fail('DUPLICATE_KEYS', { errorData: [fieldError('license', 'twice', '')] });
    return file;
  } catch (error) {
    if (error instanceof SyntaxError) return rejectLicense('licenseFormat');
    throw error;
  }
}

/** Whether an object of this valid JSON has a key twice. */
function hasDuplicateKeys(json: string): boolean {
  const open: Set<string>[] = [];
  for (const [, key, bracket] of json.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|([[\]{}])/g)) {
    if (bracket === '{' || bracket === '[') open.push(new Set());
    else if (bracket !== undefined) open.pop();
    else if (key !== undefined) {
      const name = String(JSON.parse(key));
      const names = open.at(-1);
      if (names?.has(name)) return true;
      names?.add(name);
    }
  }
  return false;
}

/** The public keys that this installation trusts. */
export async function licenseKeys({ LICENSE_KEYS: keys }: Pick<Env, 'LICENSE_KEYS'>): Promise<KeyObject[]> {
  if (keys === undefined) fail('INVALID_LICENSE_SERVER');
  try {
    const found = readPublicKeys(keys.includes('-----BEGIN') ? keys : await readFile(keys, 'utf8'));
    if (found.length === 0) throw new Error('LICENSE_KEYS has no public key');
    return found;
  } catch (cause) {
    return fail('INVALID_LICENSE_SERVER', { cause });
  }
}

export async function signingKey({ LICENSE_SIGNING_KEY: file }: Pick<Env, 'LICENSE_SIGNING_KEY'>): Promise<KeyObject> {
  if (file === undefined) fail('INVALID_LICENSE_SERVER');
  try {
    return await readSigningKey(file);
  } catch (cause) {
    return fail('INVALID_LICENSE_SERVER', { cause });
  }
}

export async function readSigningKey(file: string): Promise<KeyObject> {
  const key = createPrivateKey(await readFile(file, 'utf8'));
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('licenses are signed by an Ed25519 key');
  return key;
}
