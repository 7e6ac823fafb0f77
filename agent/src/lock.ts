// One agent per directory. The kernel holds an abstract socket's name exactly as long as its owner lives,
// so a kill needs no cleanup. Containers can share these names, so the name contains the folder's file system.
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';

export async function lockDirectory(dir: string): Promise<() => void> {
  const { dev, ino } = await stat(dir);
  const name = createHash('sha256').update(`${dev} ${ino} ${dir}`).digest('hex');
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new Error(`another agent is running in ${dir}`) : error),
    );
    server.listen({ path: `\0edgeloom-agent-${name}` }, () => {
      server.unref();
      resolve(() => server.close());
    });
  });
}
