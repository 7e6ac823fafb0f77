// One agent per directory. The name of an abstract socket is held by the kernel for exactly as long as its owner lives,
// so there is nothing to clean up after a kill.
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';

export function lockDirectory(dir: string): Promise<() => void> {
  const name = createHash('sha256').update(dir).digest('hex');
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
