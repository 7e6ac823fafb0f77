// Verifies that the new tree really serves. After a refused reload the old workers keep serving, and only the error
// log contains the reason.
import { open, stat } from 'node:fs/promises';
import { summarizeErrors } from './supervisor.ts';

/** nginx retries a port for 2.5 s before it gives up. */
const TIMEOUT_MS = 15_000;
const INTERVAL_MS = 20;
/** Crashing workers may respond once or twice. */
const MIN_SUCCESSES = 3;

/** Bytes of the error log that are read at a time. */
const CHUNK_BYTES = 65_536;

export interface ErrorLog {
  /** Why nginx refused a configuration since the mark, or null. */
  emergency: () => Promise<string | null>;
}

export async function markErrorLog(file: string): Promise<ErrorLog> {
  let position = await sizeOf(file);
  let rest = '';
  const emergencies: string[] = [];
  return {
    emergency: async () => {
      const added = await readFrom(file, position);
      position += added.length;
      const lines = (rest + added.toString()).split('\n');
      rest = lines.pop() ?? '';
      emergencies.push(...lines.filter((line) => line.includes('[emerg]')));
      return emergencies.every(isRetried) ? null : summarizeErrors(emergencies.join('\n'));
    },
  };
}

/** nginx retries ports in use (EADDRINUSE). Another line follows when it gives up. */
const isRetried = (emergency: string) => emergency.includes('(98: ');

/** Resolves when workers of this generation respond. Throws nginx's reason, or a timeout. */
export async function probe(answering: () => Promise<number>, generation: number, errorLog: ErrorLog): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  let seen = 'no response';
  for (let answers = 0; answers < MIN_SUCCESSES;) {
    const answered = await answering().catch((error: unknown) => {
      seen = error instanceof Error ? error.message : String(error);
      return null;
    });
    if (answered === generation) answers += 1;
    else {
      answers = 0;
      if (answered !== null) seen = `generation ${answered} still responds`;
      const emergency = await errorLog.emergency();
      if (emergency !== null) throw new Error(emergency);
      if (Date.now() > deadline) throw new Error(`generation ${generation} does not answer: ${seen}`);
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    }
  }
}

async function readFrom(file: string, position: number): Promise<Buffer> {
  if ((await sizeOf(file)) <= position) return Buffer.alloc(0);
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(CHUNK_BYTES), 0, null, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

const sizeOf = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );
