// The format of a document file. Lua reads files while we replace them, so each can be verified: a header line
// `edgeloom 1 <revision> <crc32 of the body> <bytes of the body>`, then the body exactly as sent.
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

const header = /^edgeloom 1 (\d{1,15}) ([0-9a-f]{8}) (\d{1,12})$/;
/** Longer than any header line. Bounds the search in a damaged file. */
const headerBytes = 64;

/** Relative to the document directory. The middle folder spreads a hundred thousand names over 256 folders. */
export function docPath(key: string): string {
  const slash = key.indexOf('/');
  if (slash < 0) return key;
  const name = key.slice(slash + 1);
  return `${key.slice(0, slash)}/${createHash('md5').update(name).digest('hex').slice(0, 2)}/${name}`;
}

export function encodeDocFile(revision: number, body: string): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(`edgeloom 1 ${revision} ${hex(crc32(bytes))} ${bytes.length}\n`), bytes]);
}

/** Throws on anything but an intact file. */
export function decodeDocFile(file: Uint8Array): { revision: number; body: string } {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const end = bytes.subarray(0, headerBytes).indexOf('\n');
  const found = end < 0 ? null : header.exec(bytes.toString('latin1', 0, end));
  if (found === null) throw new Error('the header is damaged');
  const body = bytes.subarray(end + 1);
  if (body.length !== Number(found[3])) throw new Error(`${body.length} bytes where the header says ${found[3]}`);
  if (hex(crc32(body)) !== found[2]) throw new Error('the checksum does not match');
  return { revision: Number(found[1]), body: body.toString() };
}

const hex = (checksum: number) => checksum.toString(16).padStart(8, '0');
