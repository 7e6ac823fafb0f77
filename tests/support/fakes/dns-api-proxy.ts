// A proxy in front of a DNS provider that can simulate errors.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

export type ProxyMode = 'fine' | 'busy' | 'broken' | 'garbage' | 'silent';

export interface DnsApiProxy {
  url: string;
  setMode: (mood: ProxyMode) => void;
  /** HTTP methods of the requests so far. */
  calls: string[];
  /** Calls the listener after the provider has made a change and before the response is sent. */
  onChange: (listener: () => void) => void;
  /** Holds the next request of this method until `letGo`, even if the client has disconnected by then. */
  holdNext: (method: 'GET' | 'PATCH') => { arrived: Promise<void>; release: () => void };
  /** Holds the provider's next list of a whole zone, as it was at that moment. */
  holdNextList: () => { arrived: Promise<void>; release: () => void };
  stop: () => Promise<void>;
}

export async function startDnsApiProxy(target: string, mood: ProxyMode = 'fine'): Promise<DnsApiProxy> {
  const calls: string[] = [];
  let now = mood;
  let notifyChange: () => void = () => undefined;
  let keeping: { method: string; wait: () => Promise<void> } | null = null;
  let keepingList: (() => Promise<void>) | null = null;
  async function respond(url: string, method: string, key: string, body: string | null, response: ServerResponse) {
    if (keeping?.method === method) {
      const { wait } = keeping;
      keeping = null;
      await wait();
    }
    try {
      const answer = await fetch(`${target}${url}`, { method, headers: { 'x-api-key': key }, body });
      const text = await answer.text();
      if (method === 'GET' && /\/zones\/[^/?]+$/.test(url)) {
        const wait = keepingList;
        keepingList = null;
        await wait?.();
      }
      if (method === 'PATCH') notifyChange();
      // A 204 response must not have a body.
      response.writeHead(answer.status === 204 ? 200 : answer.status).end(text);
    } catch {
      response.destroy();
    }
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = 'GET' } = request;
      calls.push(method);
      if (now === 'silent') return;
      if (now === 'busy') return void response.writeHead(429, { 'retry-after': '600' }).end('{"error":"too many"}');
      if (now === 'broken') return void response.writeHead(500).end('{"error":"out of order"}');
      if (now === 'garbage') return void response.writeHead(200).end('<html>Welcome</html>');
      const key = String(request.headers['x-api-key'] ?? '');
      const body = method === 'GET' ? null : Buffer.concat(chunks).toString();
      void respond(request.url ?? '', method, key, body, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  return {
    url: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`,
    setMode: (next) => {
      now = next;
      // Closes connections that wait for a response.
      server.closeAllConnections();
    },
    calls,
    onChange: (listener) => (notifyChange = listener),
    holdNext(method) {
      const { wait, ...hold } = newHold();
      keeping = { method, wait };
      return hold;
    },
    holdNextList() {
      const { wait, ...hold } = newHold();
      keepingList = wait;
      return hold;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function newHold() {
  const [arrived, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const wait = () => {
    arrived.resolve();
    return gone.promise;
  };
  return { arrived: arrived.promise, release: gone.resolve, wait };
}
