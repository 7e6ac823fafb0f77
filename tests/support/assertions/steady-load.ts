// Continuous load over HTTP and TLS, on new and on kept-alive connections, with long downloads and uploads. Lists
// requests that failed.
import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

interface LoadRequest {
  secure?: boolean;
  path?: string;
  method?: string;
  agent?: HttpAgent | HttpsAgent | undefined;
}

/** The load shares the machine with the product under test. */
const PAUSE_MS = 5;
const PIECE = 65_536;

export function startLoad(ports: { http: number; https: number }, host: string) {
  const failed: string[] = [];
  let asked = 0;
  let going = true;
  const startRequest = ({ secure = false, path = '/', method = 'GET', agent }: LoadRequest): ClientRequest => {
    const options = { host: '127.0.0.1', path, method, headers: { host }, agent: agent ?? (false as const) };
    return secure
      ? httpsRequest({ ...options, port: ports.https, servername: host, rejectUnauthorized: false })
      : httpRequest({ ...options, port: ports.http });
  };
  const visit = async (wish: LoadRequest): Promise<void> => {
    const call = startRequest(wish);
    call.end();
    const answer = await answered(call).catch((error: unknown) => {
      // nginx closed the idle connection while we wrote; browsers retry once.
      if (call.reusedSocket && error instanceof Error && 'code' in error && error.code === 'ECONNRESET') return null;
      throw error;
    });
    if (answer === null) return visit({ ...wish, agent: undefined });
    answer.resume();
    await once(answer, 'end');
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
  };
  const keepVisiting = async (name: string, wish: LoadRequest) => {
    while (going) {
      asked += 1;
      await visit(wish).catch((error: unknown) => failed.push(`${name}: ${String(error)}`));
      await sleep(PAUSE_MS);
    }
  };
  const agents = [
    new HttpAgent({ keepAlive: true, maxSockets: 1 }),
    new HttpsAgent({ keepAlive: true, maxSockets: 1 }),
  ];
  const [kept, keptSecure] = agents;
  const visitors = [
    keepVisiting('new connections', {}),
    keepVisiting('kept connection', { agent: kept }),
    keepVisiting('new connections, TLS', { secure: true }),
    keepVisiting('kept connection, TLS', { secure: true, agent: keptSecure }),
  ];
  const long = (name: string, work: () => Promise<void>) =>
    work().catch((error: unknown) => void failed.push(`${name}: ${String(error)}`));

  return {
    asked: () => asked,
    /** Downloads a large file slowly. */
    download: (path: string, bytes: number) =>
      long('download', async () => {
        const call = startRequest({ path });
        call.end();
        let got = 0;
        for await (const chunk of await answered(call)) {
          got += chunk.length;
          await sleep((chunk.length / PIECE) * 20);
        }
        if (got !== bytes) throw new Error(`${got} of ${bytes} bytes`);
      }),
    /** Uploads a large body slowly. The origin returns the size. */
    upload: (path: string, pieces: number) =>
      long('upload', async () => {
        const call = startRequest({ path, method: 'POST' });
        const answer = answered(call);
        for (let i = 0; i < pieces; i += 1) {
          call.write('x'.repeat(PIECE));
          await sleep(20);
        }
        call.end();
        let text = '';
        for await (const chunk of await answer) text += String(chunk);
        if (text !== String(pieces * PIECE)) throw new Error(`the origin got ${text}`);
      }),
    /** Stops the load and returns the failed requests. */
    stop: async (): Promise<string[]> => {
      going = false;
      await Promise.all(visitors);
      for (const agent of agents) agent.destroy();
      return failed;
    },
  };
}

const answered = (call: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    call.once('response', resolve);
    call.once('error', reject);
  });
