// Verifies signatures of releases. Separate from releases.ts, which browsers use too.
import { createPublicKey, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { ReleaseManifest } from './releases.ts';
import type { SignedRelease } from './releases.ts';

/** Reads Ed25519 public keys from concatenated PEM blocks. */
export function readPublicKeys(pem: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----/g) ?? [];
  const keys = blocks.map((block) => createPublicKey(block));
  const other = keys.find(({ asymmetricKeyType }) => asymmetricKeyType !== 'ed25519');
  if (other) throw new Error(`signatures are made by Ed25519 keys, not by ${other.asymmetricKeyType}`);
  return keys;
}

/** Throws when no key verifies the signature. */
export function readSigned({ manifest, signature }: SignedRelease, keys: readonly KeyObject[]): ReleaseManifest {
  const [bytes, mark] = [Buffer.from(manifest), Buffer.from(signature, 'base64')];
  if (!keys.some((key) => verify(null, bytes, key, mark))) throw new Error('no key that is trusted here has signed it');
  return ReleaseManifest.parse(JSON.parse(manifest));
}
