// The access log on a small disk of its own, while the control plane takes no lines.
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, statfs } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { get, eventuallyStarted, startConnectedNode } from '../support/services/connected-node.ts';
import { restartableNats } from '../support/services/restartable-nats.ts';
import { testDir } from '../support/services/test-dir.ts';

const run = promisify(execFile);
const DISK_BYTES = 4 * 1024 * 1024;
/** The part that the agent leaves free. */
const RESERVE = DISK_BYTES / 8;
/** A line has more than this. */
const QUERY = 'x'.repeat(3000);
/** A round and the buffers of two workers fit into half of the reserve. */
const ROUND = 20;
const ROUNDS = 113;

test(
  'a full disk of logs fails no request, and each line is sent once or counted as lost',
  { timeout: 240_000 },
  async () => {
    const dir = await testDir();
    const logs = path.join(dir, 'logs');
    await mkdir(logs, { recursive: true });
    await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', logs]);
    const unmount = async () => void (await run('umount', ['-l', logs]).catch(() => undefined));
    onTestFinished(unmount);
    // On the run's nats-server an API process of another test may take batches of this node.
    const nats = await restartableNats();
    await nats.start();
    const { peer, agent, ports, www } = await startConnectedNode({ dir, peer: { natsUrl: nats.url } });
    onTestFinished(unmount);
    for (let round = 0; round < ROUNDS; round += 1) {
      const urls = Array.from({ length: ROUND }, (_, i) => `/?round=${round}&i=${i}&${QUERY}`);
      const responses = await Promise.all(urls.map((url) => get(ports.http, www.name, url)));
      expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
      // Before there is no room for a round, the agent has deleted lines.
      await eventuallyStarted(async () => {
        const { bavail, bsize } = await statfs(logs);
        expect(bavail * bsize).toBeGreaterThan(RESERVE / 2);
      });
    }
    // Heartbeats have the same sum, but come each half minute only.
    const lostLines = () => agent.log.reduce((sum, { lines }) => sum + (typeof lines === 'number' ? lines : 0), 0);
    await eventuallyStarted(() => expect(lostLines()).toBeGreaterThan(0));
    // A file that is deleted while its lines are sent counts twice. On a larger disk no more files are deleted.
    await run('mount', ['-o', `remount,size=${2 * DISK_BYTES}`, logs]);
    await eventuallyStarted(async () => expect((await countLines(logs)) + lostLines()).toBe(ROUND * ROUNDS));

    const received: string[] = [];
    peer.receiveLogs(({ lines, to }) => {
      const rows = gunzipSync(Buffer.from(lines, 'base64')).toString().split('\n').filter(Boolean);
      received.push(
        ...rows.map((row) => JSON.parse(row)).flatMap(({ id, args }) => (args.startsWith('round=') ? [id] : [])),
      );
      return { reached: to };
    });
    await eventuallyStarted(() => expect(received.length + lostLines()).toBeGreaterThanOrEqual(ROUND * ROUNDS));
    expect(received.length + lostLines()).toBe(ROUND * ROUNDS);
    expect(new Set(received).size).toBe(received.length);
  },
);

/** The lines of all rounds on the disk. nginx has written its buffers when none is missing. */
async function countLines(logs: string): Promise<number> {
  const names = (await readdir(logs)).filter((name) => name.startsWith('access.json'));
  const texts = await Promise.all(names.map((name) => readFile(path.join(logs, name), 'utf8')));
  return texts.reduce((sum, text) => sum + text.split('"round=').length - 1, 0);
}
