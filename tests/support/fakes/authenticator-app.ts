// An authenticator app: one-time codes of RFC 6238 with SHA-1, six digits and steps of 30 seconds.
import { createHmac } from 'node:crypto';

const STEP_MS = 30_000;
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code of a Base32 secret at a time. */
export function totpCode(secret: string, at = Date.now()): string {
  const bits = [...secret].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / STEP_MS)));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = digest.readUInt8(digest.length - 1) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0');
}

/** The secret in an otpauth:// address, which the QR code contains. */
export const secretIn = (qrCodeData: string): string => new URL(qrCodeData).searchParams.get('secret') ?? '';
