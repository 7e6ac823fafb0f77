// Verifies that the new tree really serves. After a refused reload the old workers keep serving, and only the error
// log contains the reason.
import { open, stat } from 'node:fs/promises';
import { summarizeErrors } from './supervisor.ts';

/** nginx retries a port for 2.5 s before it gives up. */
const TIMEOUT_MS = 15_000;
const INTERVAL_MS = 20;
/** Crashing workers may respond once or twice. */
const MIN_SUCCESSES = 3;

export interface ErrorLog {
  /** nginx's emergency message since the mark, or null. */
  emergency: () => Promise<string | null>;
}

export async function markErrorLog(file: string): Promise<ErrorLog> {
  const from = await sizeOf(file);
  return {
    emergency: async () => {
      const size = await sizeOf(file);
      if (size <= from) return null;
      const handle = await open(file, 'r');
      try {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(size - from, 65_536)), 0, null, from);
        const lines = buffer
          .toString('utf8', 0, bytesRead)
          .split('\n')
          .filter((line) => line.includes('[emerg]'));
        return lines.length === 0 ? null : summarizeErrors(lines.join('\n'));
      } finally {
        await handle.close();
      }
    },
  };
}

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

const sizeOf = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );
