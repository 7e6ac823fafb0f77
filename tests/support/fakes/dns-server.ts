// A scriptable DNS server over UDP that records its queries.
import { createSocket } from 'node:dgram';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';

export type Records = {
  a?: string[];
  aaaa?: string[];
  txt?: string[];
  ns?: string[];
  ptr?: string[];
  seconds?: number;
  alias?: string;
};
export type Behaviour = 'answer' | 'silent' | 'loseOne' | 'fail' | 'failForIPv4' | 'failForIPv6' | 'lie';

const failing: Partial<Record<Behaviour, number>> = { failForIPv4: 1, failForIPv6: 28 };

const kinds = new Map([
  [1, 'A'],
  [2, 'NS'],
  [5, 'CNAME'],
  [12, 'PTR'],
  [16, 'TXT'],
  [28, 'AAAA'],
]);

/** A random loopback address for a DNS server, since port 53 is fixed. */
export const nameServerHost = () => `127.${randomInt(100, 200)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;

/** Answers from `records`, or from a function at the time of the query. */
export async function startNameServer(
  find?: (name: string) => Records | undefined,
  { host = '127.0.0.1', port = 0 }: { host?: string; port?: number } = {},
) {
  const records = new Map<string, Records>();
  const asked: string[] = [];
  let behaviour: Behaviour = 'answer';
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const { name, end } = readName(question);
    const kind = question.readUInt16BE(end);
    asked.push(`${name} ${kinds.get(kind) ?? kind}`);
    if (behaviour === 'silent') return;
    if (behaviour === 'loseOne') {
      behaviour = 'answer';
      return;
    }
    const found = find ? find(name) : records.get(name);
    const addresses = (kind === 1 ? found?.a : kind === 28 ? found?.aaaa : []) ?? [];
    const header = Buffer.alloc(12);
    header.writeUInt16BE(question.readUInt16BE(0), 0);
    const fails = behaviour === 'fail' || failing[behaviour] === kind;
    const code = fails ? 2 : found === undefined ? 3 : 0;
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(1, 4);
    const answers = code !== 0 ? [] : addresses.map((address) => record(kind, address, found?.seconds ?? 60));
    if (kind === 16 && code === 0) answers.push(...(found?.txt ?? []).map(text));
    if (kind === 2 && code === 0) answers.push(...(found?.ns ?? []).map((server) => entry(2, 60, nameOf(server))));
    if (kind === 12 && code === 0) answers.push(...(found?.ptr ?? []).map((name) => entry(12, 60, nameOf(name))));
    if (found?.alias !== undefined && code === 0) answers.unshift(alias(found.alias));
    header.writeUInt16BE(answers.length, 6);
    const reply = Buffer.concat([header, question.subarray(12, end + 4), ...answers]);
    // Sends responses to another question before the real one.
    if (behaviour === 'lie') {
      const lie = Buffer.from(reply);
      lie.writeUInt16BE((question.readUInt16BE(0) + 1) % 65_536, 0);
      socket.send(lie, from.port, from.address);
    }
    socket.send(reply, from.port, from.address);
  });
  socket.bind(port, host);
  await once(socket, 'listening');
  return {
    address: `${host}:${socket.address().port}`,
    records,
    asked,
    behave: (next: Behaviour) => (behaviour = next),
    stop: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

function readName(message: Buffer): { name: string; end: number } {
  const labels = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}

/** The name is a compression pointer to the question's. */
function record(kind: number, address: string, seconds: number): Buffer {
  const data = kind === 1 ? Buffer.from(address.split('.').map(Number)) : v6(address);
  return entry(kind, seconds, data);
}

const alias = (target: string) => entry(5, 60, nameOf(target));

function nameOf(text: string): Buffer {
  const labels = text.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** At most 255 characters. */
const text = (content: string) => entry(16, 60, Buffer.concat([Buffer.from([content.length]), Buffer.from(content)]));

function entry(kind: number, seconds: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(kind, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(seconds, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/** The full form with eight groups. */
const v6 = (address: string) =>
  Buffer.concat(address.split(':').map((group) => Buffer.from(group.padStart(4, '0'), 'hex')));
