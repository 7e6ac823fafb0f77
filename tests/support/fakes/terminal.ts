// A terminal of the command line whose output a test reads.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { run } from '@edgeloom/cli/run.ts';
import { openTerminal } from '@edgeloom/cli/terminal.ts';

interface Typed {
  env?: Record<string, string>;
  /** Standard input. */
  input?: string;
  /** Typed by a person. Without it the input is no terminal. */
  answer?: string;
  /** Happens while the command waits for the answer. */
  beforeAnswer?: () => Promise<unknown>;
  signal?: AbortSignal;
}

async function* typed(text: string, before?: () => Promise<unknown>) {
  await before?.();
  yield Buffer.from(text);
}

/** A home folder of its own, so that commands of one test share a login. */
export async function commandLine(fixed: Record<string, string> = {}) {
  const home = await mkdtemp(path.join(tmpdir(), 'edgeloom-cli-'));
  const start = (args: string[], { env = {}, input = '', answer, beforeAnswer, signal }: Typed = {}) => {
    const printed = { output: '', errors: '' };
    const into = (name: keyof typeof printed) =>
      new Writable({
        write(chunk, _encoding, done) {
          printed[name] += String(chunk);
          done();
        },
      });
    const terminal = openTerminal({
      env: { HOME: home, ...fixed, ...env },
      input: Readable.from(typed(answer === undefined ? input : `${answer}\n`, beforeAnswer)),
      output: into('output'),
      errors: into('errors'),
      isInteractive: answer !== undefined,
      ...(signal && { signal }),
    });
    return { printed, status: run(args, terminal) };
  };
  return {
    home,
    start,
    async run(args: string[], typed: Typed = {}) {
      const { printed, status } = start(args, typed);
      return { status: await status, ...printed };
    },
  };
}
