// Simulates a request in this node's nginx: the simulated hops (simulate.conf) decide like the real ones and record
// each step.
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { checkDoc } from '@edgeloom/contract/edge/documents.ts';
import type { EdgeDoc } from '@edgeloom/contract/edge/documents.ts';
import type { SimulatedRequest, Simulated } from '@edgeloom/contract/edge/simulated.ts';
import * as z from 'zod';
import type { Admin } from './admin.ts';

const Asked = z.object({
  step: z.literal('asked'),
  method: z.string(),
  uri: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
});
const Step = z.object({
  step: z.string(),
  decision: z.string(),
  rule: z.object({ kind: z.string(), id: z.string() }).optional(),
  detail: z.record(z.string(), z.string()).catch({}),
  microseconds: z.int(),
});
const Trace = z.array(z.union([Asked, Step]));

const MAX_HEADER_BYTES = 256 * 1024;

/** `socket`: where the simulated hop A listens. */
export async function simulate(
  admin: Admin,
  socket: string,
  asked: SimulatedRequest,
  withinMs: number,
): Promise<Omit<Simulated, 'revision'>> {
  const { scheme, port, answer } = asked;
  const docs = asked.docs !== undefined && { docs: docsOf(asked.docs) };
  const simulated = await simulateOrder(admin, socket, asked, { scheme, port, answer, ...docs }, withinMs);
  return { ...simulated, ...(asked.body !== undefined && { hasBody: true }) };
}

type SentRequest = Pick<SimulatedRequest, 'method' | 'path' | 'host' | 'headers' | 'ip' | 'body'>;

/** `order`: as nginx needs it for this request. */
export async function simulateOrder(
  admin: Admin,
  socket: string,
  asked: SentRequest,
  order: object,
  withinMs: number,
): Promise<Omit<Simulated, 'revision'>> {
  const id = randomUUID();
  await admin.simulate(id, order);
  try {
    const received = await send(socket, id, asked, withinMs);
    return toSimulated(received, await admin.simulated(id));
  } catch (error) {
    await admin.simulated(id);
    throw error;
  }
}

/** Validated like stored documents. Structural documents cannot be simulated. */
export function docsOf(bodies: NonNullable<SimulatedRequest['docs']>) {
  const docs = Object.entries(bodies).map(([key, body]): [string, EdgeDoc | null] => {
    const checked = body === null ? null : checkDoc(key, body);
    if (checked !== null && !('doc' in checked)) throw new Error(`this agent is too old for ${key}`);
    const doc = checked?.doc ?? null;
    if (!/^(?:site|host|module|list)\//.test(key)) throw new Error(`${key} cannot be part of a simulation`);
    return [key, doc];
  });
  return Object.fromEntries(docs);
}

type Received = { status: number; headers: [string, string][] } | null;

/** Reads the header only. Null where nginx closed without a response. */
function send(socketPath: string, id: string, asked: SentRequest, withinMs: number): Promise<Received> {
  const { method, path, host, headers, ip } = asked;
  const body = bodyOf(asked);
  const length: [string, string][] = body === null ? [] : [['Content-Length', String(body.length)]];
  return new Promise((resolve, reject) => {
    const call = request(
      {
        socketPath,
        method,
        path,
        agent: false,
        maxHeaderSize: MAX_HEADER_BYTES,
        signal: AbortSignal.timeout(withinMs),
        headers: [['Host', host], ...headers, ...length, ['X-E-Simulate', id], ['X-E-Client', ip]].flat(),
      },
      (reply) => {
        reply.on('error', () => undefined);
        resolve({ status: reply.statusCode ?? 0, headers: pairs(reply) });
        call.destroy();
      },
    );
    // A protocol upgrade is a response like any other.
    call.on('upgrade', (reply, socket) => {
      socket.destroy();
      resolve({ status: reply.statusCode ?? 0, headers: pairs(reply) });
    });
    call.on('error', (error) => {
      if ('code' in error && error.code === 'ECONNRESET') resolve(null);
      else reject(error);
    });
    call.end(body);
  });
}

/** Visitors send a length with these methods, also without a body. */
const WITH_LENGTH = ['POST', 'PUT', 'PATCH'];

function bodyOf({ method, body }: SentRequest): Buffer | null {
  if (body !== undefined) return Buffer.from(body, 'base64');
  return WITH_LENGTH.includes(method) ? Buffer.alloc(0) : null;
}

const pairs = ({ rawHeaders }: IncomingMessage) =>
  rawHeaders.flatMap((name, i): [string, string][] => (i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? '']] : []));

/** Fields of the connection between this process and nginx. */
const ofConnection = ['connection', 'transfer-encoding', 'keep-alive', 'content-length', 'x-request-id'];

function toSimulated(received: Received, trace: unknown): Omit<Simulated, 'revision'> {
  const all = Trace.parse(trace);
  // Background work after the response is not part of the simulation.
  const end = all.findIndex((one) => one.step === 'end');
  const until = end < 0 ? all : all.slice(0, end);
  const asked = until.flatMap((one) => ('uri' in one ? [one] : [])).at(-1) ?? null;
  const steps = until.flatMap((one) => ('uri' in one ? [] : [{ ...one, rule: one.rule ?? null }]));
  return {
    siteID: all.map((one) => ('uri' in one ? undefined : one.detail['site'])).find((id) => id !== undefined) ?? null,
    status: received?.status ?? null,
    headers: (received?.headers ?? []).filter(([name]) => !ofConnection.includes(name.toLowerCase())),
    asked: asked === null ? null : { method: asked.method, uri: asked.uri, headers: asked.headers },
    steps,
  };
}
