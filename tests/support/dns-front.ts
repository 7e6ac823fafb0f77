// In front of a provider: passes on what it is asked, or behaves as providers do on bad days.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

export type Mood = 'fine' | 'busy' | 'broken' | 'garbage' | 'silent';

export interface DnsFront {
  url: string;
  behave: (mood: Mood) => void;
  /** Methods of the calls so far. */
  calls: string[];
  /** Told of each change once the provider has made it, before that is answered. */
  onChange: (hear: () => void) => void;
  /** The next call of the method is kept here once it has arrived, and is made when it is let go, whoever waits for its answer by then. */
  keep: (method: 'GET' | 'PATCH') => { arrived: Promise<void>; letGo: () => void };
  stop: () => Promise<void>;
}

export async function startDnsFront(target: string, mood: Mood = 'fine'): Promise<DnsFront> {
  const calls: string[] = [];
  let now = mood;
  let hear: () => void = () => undefined;
  let keeping: { method: string; wait: () => Promise<void> } | null = null;
  async function respond(url: string, method: string, key: string, body: string | null, response: ServerResponse) {
    if (keeping?.method === method) {
      const { wait } = keeping;
      keeping = null;
      await wait();
    }
    try {
      const answer = await fetch(`${target}${url}`, { method, headers: { 'x-api-key': key }, body });
      const text = await answer.text();
      if (method === 'PATCH') hear();
      // A body, even an empty one, may not go with 204.
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
    behave: (next) => {
      now = next;
      // Whoever waits for an answer is hung up on.
      server.closeAllConnections();
    },
    calls,
    onChange: (listener) => (hear = listener),
    keep(method) {
      const [arrived, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const wait = () => {
        arrived.resolve();
        return gone.promise;
      };
      keeping = { method, wait };
      return { arrived: arrived.promise, letGo: gone.resolve };
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
