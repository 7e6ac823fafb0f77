// An incremental digest of a set of documents: the XOR of their SHA-256 hashes. Order is insignificant, and adding and
// removing are the same step. It detects divergence, not attacks (NATS credentials do that).
import { createHash } from 'node:crypto';

export const EMPTY_DIGEST = '0'.repeat(64);

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** The digest of many documents. `toggle` adds or removes one. */
export class DigestBuilder {
  readonly #bytes = Buffer.alloc(32);

  toggle(key: string, hash: string): void {
    const other = createHash('sha256').update(`${key}\n${hash}`).digest();
    for (let i = 0; i < other.length; i += 1) this.#bytes[i] = (this.#bytes[i] ?? 0) ^ (other[i] ?? 0);
  }

  toString(): string {
    return this.#bytes.toString('hex');
  }
}

/** `digest` with the document added or, if present, removed. */
export function toggle(digest: string, key: string, hash: string): string {
  const one = Buffer.from(digest, 'hex');
  const other = createHash('sha256').update(`${key}\n${hash}`).digest();
  return Buffer.from(one.map((byte, i) => byte ^ (other[i] ?? 0))).toString('hex');
}
