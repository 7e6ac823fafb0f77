// A digest over a set of documents that is cheap to keep current: XOR of one SHA-256 each. Order does not matter, and
// adding and taking away are the same step. It finds divergence, it does not stop an attacker (NATS credentials do).
import { createHash } from 'node:crypto';

export const EMPTY_DIGEST = '0'.repeat(64);

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** The digest of many documents: `toggle` puts each one in or takes it out again. */
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

/** `digest` with the document put in or, if it was in, taken out. */
export function toggle(digest: string, key: string, hash: string): string {
  const one = Buffer.from(digest, 'hex');
  const other = createHash('sha256').update(`${key}\n${hash}`).digest();
  return Buffer.from(one.map((byte, i) => byte ^ (other[i] ?? 0))).toString('hex');
}
