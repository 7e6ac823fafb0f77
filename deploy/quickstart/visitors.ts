// Visitors of the demo site from several countries, so that its charts have figures from the first minute on. The
// demo's node takes their addresses from a field (EDGELOOM_DEMO_VISITORS of the agent).
import { request } from 'node:http';
import { connect } from 'node:net';
import type { Summary } from './demo.ts';
import type { Settings } from './settings.ts';

const EVERY_MS = 300;
/** In visits. */
const SESSION_EVERY = 5;
/** Networks of large providers, by which the bundled database knows the country. The last number is made up. */
const NETWORKS = [
  '168.95.1',
  '168.95.192',
  '101.101.101',
  '61.220.3',
  '202.12.27',
  '133.11.93',
  '8.8.8',
  '4.2.2',
  '164.124.101',
  '194.25.0',
  '212.27.40',
  '193.0.14',
  '1.1.1',
  '200.160.0',
];
const PATHS = [
  '/',
  '/assets/site.css',
  '/assets/loom.svg',
  '/',
  '/now',
  '/',
  '/assets/site.css',
  '/slow',
  '/no-such-page',
  '/',
  '/assets/loom.svg',
  '/broken',
];
const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/140.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Safari/605.1',
  'Mozilla/5.0 (Linux; Android 15) Chrome/138.0',
  // A rule of the demo site refuses it.
  'BadBot/1.0',
];
const REFERERS = ['https://www.google.com/', 'https://news.example/', undefined, undefined];

/** Each visit has another mix of path, address and browser. */
export function visitOf(visit: number) {
  const pick = <T>(list: readonly T[], factor: number) =>
    list[(visit * factor + Math.floor(visit / list.length)) % list.length];
  const referer = pick(REFERERS, 3);
  return {
    path: PATHS[visit % PATHS.length] ?? '/',
    headers: {
      'x-demo-visitor': `${pick(NETWORKS, 5)}.${1 + ((visit * 37) % 200)}`,
      // One of thirteen, so that each path meets it.
      'user-agent': visit % 13 === 7 ? AGENTS[3] : AGENTS[visit % 3],
      ...(referer !== undefined && { referer }),
    },
  };
}

/** A session of the demo's layer-4 forward. The node refuses one of ten, which does not name its visitor. */
function openSession(visits: number, { EDGE_HOST: host, EDGE_FORWARD_PORT: port }: Forward) {
  const { headers } = visitOf(visits);
  const head = visits % 10 === 9 ? '' : `PROXY TCP4 ${headers['x-demo-visitor']} 192.0.2.1 40000 22\r\n`;
  const socket = connect({ host, port, timeout: 10_000 });
  socket.on('timeout', () => socket.destroy());
  socket.on('error', () => undefined);
  socket.resume();
  socket.end(`${head}GET /assets/loom.svg HTTP/1.0\r\n\r\n`);
}

type Forward = Pick<Settings, 'EDGE_HOST' | 'EDGE_FORWARD_PORT'>;

/** Returns what ends their visits. */
export function startVisitors({ edge, demo }: Pick<Summary, 'edge' | 'demo'>, forward: Forward): () => void {
  let visits = 0;
  const visit = () => {
    const { path, headers } = visitOf(visits);
    visits += 1;
    if (visits % SESSION_EVERY === 0) openSession(visits / SESSION_EVERY, forward);
    const sent = request(new URL(path, edge.http), { headers: { host: demo.domain, ...headers }, timeout: 10_000 });
    sent.on('response', (response) => response.resume());
    sent.on('timeout', () => sent.destroy());
    // The edge may be restarting.
    sent.on('error', () => undefined);
    sent.end();
  };
  const timer = setInterval(visit, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
