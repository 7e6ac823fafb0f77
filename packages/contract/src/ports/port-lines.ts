// A forward as one line of text, for bulk input. Origins have the format of the domain export:
//   8022 192.0.2.1:22
//   5353/udp 192.0.2.1:53*70 [2001:db8::1]:53!off method=leastConnections # name servers
//   9000 192.0.2.1:9000 backend.example.com:9000!backup proxy=both off
import { UpstreamInput } from '../domains/domains.ts';
import { ForwardInput, ForwardPort } from './ports.ts';

export type LineFault = 'port' | 'origin' | 'noOrigin' | 'twice' | 'option' | 'memo';
export type ReadLine = { forward: ForwardInput } | { fault: LineFault; part: string };

const place = /^(?:\[([^\]\s]+)\]|([^\s:*!]+)):(\d{1,5})(?:\*(\d{1,3}))?((?:!(?:backup|off))*)$/;
const options: Readonly<Record<string, object>> = {
  off: { enabled: false },
  'proxy=accept': { acceptProxy: true },
  'proxy=send': { sendProxy: true },
  'proxy=both': { acceptProxy: true, sendProxy: true },
  'method=roundRobin': { method: 'roundRobin' },
  'method=addressHash': { method: 'addressHash' },
  'method=leastConnections': { method: 'leastConnections' },
};

/** The parsed line, or the part that is invalid. */
export function readPortLine(line: string): ReadLine {
  const [before, memo] = cut(line, '#');
  const [listen = '', ...words] = before.trim().split(/\s+/);
  const [, port, protocol = 'tcp'] = /^(\d{1,5})(?:\/(tcp|udp))?$/.exec(listen) ?? [];
  if (!ForwardPort.safeParse(Number(port)).success) return { fault: 'port', part: listen };

  const upstreams: UpstreamInput[] = [];
  const chosen = {};
  for (const word of words) {
    const option = Object.hasOwn(options, word) ? options[word] : undefined;
    if (option) {
      Object.assign(chosen, option);
      continue;
    }
    const origin = readOrigin(word);
    if (origin === null) return { fault: word.includes('=') ? 'option' : 'origin', part: word };
    upstreams.push(origin);
  }
  if (!upstreams.some(({ enabled }) => enabled)) return { fault: 'noOrigin', part: before.trim() };
  const read = ForwardInput.safeParse({ port: Number(port), protocol, memo, upstreams, ...chosen });
  return read.success ? { forward: read.data } : { fault: faultOf(read.error.issues[0]), part: before.trim() };
}

/** Parses an origin, or null. */
function readOrigin(word: string): UpstreamInput | null {
  const [, inBrackets, bare, port, weight, marks = ''] = place.exec(word) ?? [];
  const origin = UpstreamInput.safeParse({
    address: inBrackets ?? bare,
    port: Number(port),
    ...(weight !== undefined && { weight: Number(weight) }),
    backup: marks.includes('!backup'),
    enabled: !marks.includes('!off'),
  });
  return origin.success ? origin.data : null;
}

const faultOf = (issue: { path: PropertyKey[]; message: string } | undefined): LineFault => {
  if (issue?.message === 'data already exists') return 'twice';
  return issue?.path[0] === 'memo' ? 'memo' : 'option';
};

function cut(text: string, at: string): [string, string] {
  const i = text.indexOf(at);
  return i < 0 ? [text, ''] : [text.slice(0, i), text.slice(i + at.length)];
}
