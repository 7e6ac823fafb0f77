// One agent per directory. The name of an abstract socket is held by the kernel for exactly as long as its owner lives,
// so there is nothing to clean up after a kill. Machines that share a network share these names (containers, machines of
// tests): which folder it is says its file system.
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';

export async function lockDirectory(dir: string): Promise<() => void> {
  const { dev, ino } = await stat(dir);
  const name = createHash('sha256').update(`${dev} ${ino} ${dir}`).digest('hex');
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new Error(`another agent works in ${dir}`) : error),
    );
    server.listen({ path: `\0edgeloom-agent-${name}` }, () => {
      server.unref();
      resolve(() => server.close());
    });
  });
}
