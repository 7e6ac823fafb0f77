// Input of the simulator, and the request made from it.
import { SimulatedHeader, type SimulateInput } from '@edgeloom/contract/simulate/simulate.ts';
import { base64 } from '../../lib/base64.ts';

export interface RequestDraft {
  method: SimulateInput['method'];
  url: string;
  headers: string;
  body: string;
  ip: string;
  nodeID: string;
  status: number | '';
  answerHeaders: string;
}

export const emptyRequest: RequestDraft = {
  method: 'GET',
  url: '',
  headers: '',
  body: '',
  ip: '',
  nodeID: '',
  status: 200,
  answerHeaders: 'Content-Type: text/html; charset=utf-8',
};

/** The host of a URL, also of one that is still being typed. */
export const hostOf = (url: string) => /^(?:https?:\/\/)?([^/:?#]*)/.exec(url.trim())?.[1] ?? '';

export const presets = {
  browser: `User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8
Accept-Encoding: gzip, deflate, br, zstd
Accept-Language: zh-TW,zh;q=0.9,en;q=0.8`,
  curl: `User-Agent: curl/8.14.1
Accept: */*`,
  crawler: `User-Agent: Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8
Accept-Encoding: gzip, deflate, br`,
};

type Header = SimulateInput['headers'][number];

/** Parses `Name: value` lines. `invalidLine` is the number of the first invalid one. */
export function headersOf(text: string): { headers: Header[]; invalidLine: number | null } {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const read = lines.map((line) => {
    const colon = line.indexOf(':');
    return { name: line.slice(0, Math.max(colon, 0)).trim(), value: line.slice(colon + 1).trim(), line };
  });
  const at = read.findIndex((one) => one.line !== '' && !SimulatedHeader.safeParse(one).success);
  return {
    headers: read.flatMap(({ name, value, line }) => (line === '' ? [] : [{ name, value }])),
    invalidLine: at < 0 ? null : at + 1,
  };
}

export function inputOf({ method, url, body, ip, nodeID, status, ...texts }: RequestDraft): SimulateInput {
  return {
    method,
    url: url.trim(),
    headers: headersOf(texts.headers).headers,
    body: body === '' ? null : { base64: base64(new TextEncoder().encode(body)) },
    ...(ip.trim() !== '' && { ip: ip.trim() }),
    ...(nodeID !== '' && { nodeID }),
    answer: { status: status === '' ? 200 : status, headers: headersOf(texts.answerHeaders).headers },
  };
}
