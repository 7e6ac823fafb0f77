// A DNS query as a resolver sends it, optionally with an EDNS client subnet.
import { createSocket } from 'node:dgram';
import { randomInt } from 'node:crypto';

const types = { A: 1, CNAME: 5, TXT: 16, AAAA: 28 } as const;
const typeNames = new Map(Object.entries(types).map(([name, code]): [number, string] => [code, name]));

/** Returns sorted records (`A 192.0.2.1`, `CNAME www.example.com`), or an empty list. */
export async function queryDns(
  server: string,
  name: string,
  { type = 'A', from }: { type?: keyof typeof types; from?: string } = {},
): Promise<string[]> {
  const [host = '', port = '53'] = server.split(':');
  const header = Buffer.alloc(12);
  header.writeUInt16BE(randomInt(65_536), 0);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(from === undefined ? 0 : 1, 10);
  const tail = Buffer.alloc(4);
  tail.writeUInt16BE(types[type], 0);
  tail.writeUInt16BE(1, 2);
  const question = Buffer.concat([header, encodeName(name), tail, ...(from === undefined ? [] : [subnet(from)])]);
  const socket = createSocket('udp4');
  try {
    const answer = await new Promise<Buffer>((done, refuse) => {
      socket.on('message', done);
      socket.on('error', refuse);
      const ask = () => socket.send(question, Number(port), host);
      const again = setInterval(ask, 500);
      const end = setTimeout(() => refuse(new Error(`${server} does not answer`)), 20_000);
      socket.on('close', () => {
        clearInterval(again);
        clearTimeout(end);
      });
      ask();
    });
    return read(answer);
  } finally {
    socket.close();
  }
}

const encodeName = (name: string) =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);

/** EDNS client subnet option with a /24 prefix. */
function subnet(address: string): Buffer {
  const bytes = Buffer.from(address.split('.').slice(0, 3).map(Number));
  const option = Buffer.concat([Buffer.from([0, 8, 0, 4 + bytes.length, 0, 1, 24, 0]), bytes]);
  return Buffer.concat([Buffer.from([0, 0, 41, 16, 0, 0, 0, 0, 0, 0, option.length]), option]);
}

function read(message: Buffer): string[] {
  let at = 12;
  const nameAt = (start: number): { name: string; end: number } => {
    const labels: string[] = [];
    let here = start;
    for (let length = message.readUInt8(here); length > 0; length = message.readUInt8(here)) {
      if (length >= 0xc0) {
        const { name } = nameAt(message.readUInt16BE(here) & 0x3fff);
        return { name: [...labels, name].join('.'), end: here + 2 };
      }
      labels.push(message.toString('latin1', here + 1, here + 1 + length));
      here += 1 + length;
    }
    return { name: labels.join('.'), end: here + 1 };
  };
  for (let i = 0; i < message.readUInt16BE(4); i += 1) at = nameAt(at).end + 4;
  const answers: string[] = [];
  for (let i = 0; i < message.readUInt16BE(6); i += 1) {
    const { end } = nameAt(at);
    const type = typeNames.get(message.readUInt16BE(end)) ?? 'other';
    const length = message.readUInt16BE(end + 8);
    const data = message.subarray(end + 10, end + 10 + length);
    if (type === 'CNAME') answers.push(`CNAME ${nameAt(end + 10).name}`);
    else if (type === 'A') answers.push(`A ${data.join('.')}`);
    else if (type === 'TXT') answers.push(`TXT ${data.toString('latin1', 1)}`);
    else answers.push(`${type} ${data.toString('hex')}`);
    at = end + 10 + length;
  }
  return answers.toSorted();
}
