// Simulated machines in a child process: one SSH server at many addresses that accepts every installation.
import { fork } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import ssh2 from 'ssh2';
import * as z from 'zod';

export interface FakeMachines {
  port: number;
  stop: () => Promise<void>;
}

const ChildMessage = z.union([z.object({ port: z.int() }), z.object({ token: z.string() })]);
const JoinedMessage = z.object({ joined: z.string() });

/** `joined` is called with each join token before the machine acknowledges it. */
export async function startFakeMachines(
  password: string,
  joined: (token: string) => Promise<void>,
): Promise<FakeMachines> {
  const child = fork(fileURLToPath(import.meta.url), [password], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.pipe(process.stderr);
  const port = Promise.withResolvers<number>();
  child.once('error', port.reject);
  child.once('close', (code, signal) =>
    port.reject(new Error(`the fake machines ended: ${code ?? signal}\n${output}`)),
  );
  child.on('message', (message) => {
    const parsed = ChildMessage.parse(message);
    if ('port' in parsed) port.resolve(parsed.port);
    else void joined(parsed.token).then(() => child.send({ joined: parsed.token }));
  });
  return {
    port: await port.promise,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

async function serve(password: string): Promise<void> {
  const waiting = new Map<string, () => void>();
  process.on('message', (message) => {
    const { joined } = JoinedMessage.parse(message);
    waiting.get(joined)?.();
  });
  process.on('disconnect', () => process.exit(0));
  const answer = async (command: string, channel: ssh2.ServerChannel) => {
    const asked = await scriptOf(command, channel);
    const token = /^EDGELOOM_TOKEN=(.+)$/m.exec(asked)?.[1];
    if (token !== undefined) {
      await new Promise<void>((resolve) => {
        waiting.set(token, resolve);
        process.send?.({ token });
      });
    }
    channel.write(outputOf(asked));
    channel.exit(0);
    channel.end();
  };
  // The parser of ssh2 rejects one of 256 Ed25519 keys of its own generator (mscdex/ssh2#1513).
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const hostKey = privateKey.export({ type: 'sec1', format: 'pem' });
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (asked) => {
      if (asked.method === 'password' && asked.password === password) asked.accept();
      else asked.reject(['password']);
    });
    client.on('session', (accept) => {
      accept().on('exec', (acceptExec, _, { command }) => {
        answer(command, acceptExec()).catch(() => client.end());
      });
    });
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  process.send?.({ port: portOf(server.address()) });
}

/** When stdin carries data, the script is in the command, and the data is discarded. */
async function scriptOf(command: string, input: Readable): Promise<string> {
  if (command === 'sh -s') return text(input);
  input.resume();
  await once(input, 'end');
  return command;
}

function outputOf(script: string): string {
  if (script.includes('::system')) return '::system rocky 9.4 x86_64\n';
  if (script.includes('::now')) return `::now ${Math.floor(Date.now() / 1000)}\n`;
  if (script.includes('::node ')) return '::node \n';
  // nginx and Node are installed; the agent is not.
  if (script.includes('/releases/') && script.includes('::absent')) return '::absent\n';
  return 'done\n';
}

export const portOf = (address: AddressInfo | string | null) =>
  typeof address === 'object' && address ? address.port : 0;

const [, program, password] = process.argv;
if (program === fileURLToPath(import.meta.url) && password !== undefined) await serve(password);
