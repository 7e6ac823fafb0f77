// Writes a small MaxMind database with IPv4 networks.
type Value = string | number | Small | bigint | { [key: string]: Value } | Value[];
/** An unsigned 16-bit integer, which readers require in the metadata. */
interface Small {
  uint16: number;
}
const small = (uint16: number): Small => ({ uint16 });

/** Sizes from 29 to 284 take a second byte. */
function control(type: number, size: number): Buffer {
  const short = Math.min(size, 29);
  const first = type > 7 ? [short, type - 7] : [(type << 5) | short];
  return Buffer.from(short === 29 ? [...first, size - 29] : first);
}
function encoded(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(6, 4), bytes]);
  }
  if (typeof value === 'bigint') {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(value);
    return Buffer.concat([control(9, 8), bytes]);
  }
  if (isSmall(value)) return Buffer.concat([control(5, 2), Buffer.from([value.uint16 >> 8, value.uint16 & 255])]);
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encoded)]);
  const entries = Object.entries(value);
  return Buffer.concat([control(7, entries.length), ...entries.flatMap(([key, one]) => [encoded(key), encoded(one)])]);
}

const isSmall = (value: Value): value is Small => typeof value === 'object' && 'uint16' in value;

/** `networks` are pairs of a CIDR (`192.0.2.0/24`) and its value. */
export function mmdb(type: string, networks: readonly (readonly [string, Value])[]): Buffer {
  const nodes: [number | null, number | null][] = [[null, null]];
  const data: Buffer[] = [];
  const found: { node: number; side: 0 | 1; at: number }[] = [];
  let size = 0;
  for (const [cidr, value] of networks) {
    const [address = '', length = '32'] = cidr.split('/');
    const bits = address
      .split('.')
      .map((part) => Number(part).toString(2).padStart(8, '0'))
      .join('')
      .slice(0, Number(length));
    let node = 0;
    for (const [i, bit] of [...bits].entries()) {
      const side = bit === '1' ? 1 : 0;
      if (i === bits.length - 1) found.push({ node, side, at: size });
      else {
        const next = nodes[node]?.[side] ?? nodes.push([null, null]) - 1;
        nodes[node]?.splice(side, 1, next);
        node = next;
      }
    }
    data.push(encoded(value));
    size += data.at(-1)?.length ?? 0;
  }
  const count = nodes.length;
  for (const { node, side, at } of found) nodes[node]?.splice(side, 1, count + 16 + at);
  const tree = Buffer.alloc(count * 6);
  for (const [i, sides] of nodes.entries())
    for (const [side, next] of sides.entries()) tree.writeUIntBE(next ?? count, i * 6 + side * 3, 3);
  const metadata = encoded({
    binary_format_major_version: small(2),
    binary_format_minor_version: small(0),
    build_epoch: 1_700_000_000n,
    database_type: type,
    description: { en: 'for tests' },
    ip_version: small(4),
    languages: ['en'],
    node_count: count,
    record_size: small(24),
  });
  return Buffer.concat([tree, Buffer.alloc(16), ...data, Buffer.from('abcdef4d61784d696e642e636f6d', 'hex'), metadata]);
}
