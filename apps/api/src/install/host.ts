// A machine over SSH. Connects only with the expected host key. Scripts are sent by standard input, so that no secret
// is in a command line.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { NodeStepFault } from '@edgeloom/contract/node-jobs/node-jobs.ts';
import { NodeSSH } from 'node-ssh';

/** A failure that needs a person. */
export class StepFailure extends Error {
  readonly fault: NodeStepFault;
  constructor(fault: NodeStepFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
/** The connection broke during a command. The step is repeated. */
export class ConnectionBroken extends Error {}

export interface Login {
  host: string;
  port: number;
  user: string;
  password: string | null;
  privateKey: string | null;
  /** `SHA256:…` as shown by ssh-keygen. Null: accept any key the first time. */
  fingerprint: string | null;
}

export interface Host {
  readonly fingerprint: string;
  /** Runs a script as root. Reports each output line immediately and returns all of them. */
  run: (script: string, options?: { stdin?: AsyncIterable<Uint8Array>; withinMs?: number }) => Promise<string>;
  close: () => void;
}

export interface Listener {
  say: (line: string) => void;
  signal: AbortSignal;
}

const CONNECT_TIMEOUT_MS = 15_000;
const COMMAND_TIMEOUT_MS = 600_000;
const MAX_LINE = 4000;
const MAX_OUTPUT = 1 << 20;

export const fingerprintOf = (key: Buffer) =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

export async function connectTo(login: Login, { say, signal }: Listener): Promise<Host> {
  const { shell, fingerprint } = await openShell(login);
  const stop = () => shell.dispose();
  signal.addEventListener('abort', stop, { once: true });
  const commands = new Commands(shell, signal);
  const root = await becomeRoot(login.user, login.password, (command, input) =>
    commands.execute(command, { stdin: Readable.from([input]), withinMs: CONNECT_TIMEOUT_MS, say: () => undefined }),
  );
  return {
    fingerprint,
    async run(script, { stdin, withinMs = COMMAND_TIMEOUT_MS } = {}) {
      // When standard input carries data, the script is an argument and contains no secrets.
      const [command, input] = stdin
        ? [`${root.prefix}sh -c ${quote(script)}`, Readable.from(joined(root.answer, stdin))]
        : [`${root.prefix}sh -s`, Readable.from([`${root.answer}${script}\n`])];
      const { code, lines } = await commands.execute(command, { stdin: input, withinMs, say });
      if (code !== 0) throw failureOf(lines, code);
      return lines.join('\n');
    },
    close() {
      signal.removeEventListener('abort', stop);
      shell.dispose();
    },
  };
}

async function openShell(login: Login): Promise<{ shell: NodeSSH; fingerprint: string }> {
  const { host, port, user, password, privateKey, fingerprint } = login;
  const shell = new NodeSSH();
  let seenFingerprint = '';
  try {
    await shell.connect({
      host,
      port,
      username: user,
      ...(password !== null && { password }),
      ...(privateKey !== null && { privateKey }),
      // The password also decrypts an encrypted key.
      ...(privateKey !== null && password !== null && /ENCRYPTED|bcrypt/.test(privateKey) && { passphrase: password }),
      readyTimeout: CONNECT_TIMEOUT_MS,
      keepaliveInterval: 5000,
      keepaliveCountMax: 3,
      hostVerifier: (key: Buffer) => {
        seenFingerprint = fingerprintOf(key);
        return fingerprint === null || seenFingerprint === fingerprint;
      },
    });
  } catch (error) {
    throw refusalOf(error, seenFingerprint, login);
  }
  return { shell, fingerprint: seenFingerprint };
}

interface ExecuteOptions {
  stdin: Readable;
  withinMs: number;
  /** Called with each line of the output. */
  say: (line: string) => void;
}

/** Runs commands over a connection, and notices when it breaks. */
class Commands {
  readonly #shell: NodeSSH;
  readonly #signal: AbortSignal;
  #isGone: boolean;

  constructor(shell: NodeSSH, signal: AbortSignal) {
    this.#shell = shell;
    this.#signal = signal;
    this.#isGone = shell.connection === null;
    const setGone = () => {
      this.#isGone = true;
    };
    shell.connection?.on('close', setGone);
    // An unhandled error of a dead connection would end the process.
    shell.connection?.on('error', setGone);
  }

  async execute(command: string, { stdin, withinMs, say }: ExecuteOptions) {
    if (this.#isBroken()) throw new ConnectionBroken();
    const output = new OutputLines(say);
    const [stdout, stderr] = [output.stream(), output.stream()];
    const end = this.#endOrTimeout(withinMs);
    try {
      const { code } = await Promise.race([
        this.#shell.execCommand(command, { stdin, noTrim: true, onStdout: stdout.write, onStderr: stderr.write }),
        end.reached,
      ]);
      stdout.end();
      stderr.end();
      // Channels closed with the connection have no exit code.
      if (code === null && this.#isBroken()) throw new ConnectionBroken();
      return { code, lines: output.lines };
    } catch (error) {
      if (error instanceof StepFailure || error instanceof ConnectionBroken) throw error;
      if (this.#isGone) throw new ConnectionBroken();
      throw error;
    } finally {
      end.forget();
    }
  }

  #isBroken(): boolean {
    return this.#isGone || this.#signal.aborted;
  }

  /** Rejects when the connection ends, for which ssh2 never settles a command, or after the time. */
  #endOrTimeout(withinMs: number) {
    let timer: NodeJS.Timeout | undefined;
    const reached = new Promise<never>((_, reject) => {
      this.#shell.connection?.once('close', () => reject(new ConnectionBroken()));
      timer = setTimeout(() => {
        reject(new StepFailure('command', `no end after ${withinMs / 1000} s`));
        this.#shell.dispose();
      }, withinMs);
    });
    return { reached, forget: () => clearTimeout(timer) };
  }
}

/** The lines of a command's output, up to a limit. */
class OutputLines {
  readonly lines: string[] = [];
  readonly #say: (line: string) => void;
  #size = 0;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** Splits one stream into lines. */
  stream() {
    let rest = '';
    return {
      write: (chunk: Buffer) => {
        const parts = (rest + chunk.toString()).split(/\r?\n/);
        rest = (parts.pop() ?? '').slice(-MAX_OUTPUT);
        for (const line of parts) this.#add(line);
      },
      end: () => {
        if (rest !== '') this.#add(rest);
      },
    };
  }

  #add(line: string): void {
    // Lines with `::` are results for the control plane.
    if (!line.startsWith('::')) this.#say(line.slice(0, MAX_LINE));
    this.#size += line.length;
    if (this.#size <= MAX_OUTPUT) this.lines.push(line);
  }
}

/** Reads a machine's host key without signing in. */
export async function readHostKey(host: string, port: number): Promise<string> {
  const shell = new NodeSSH();
  let seenFingerprint = '';
  const hostVerifier = (key: Buffer) => {
    seenFingerprint = fingerprintOf(key);
    return false;
  };
  // We refuse the key once it is known.
  await shell
    .connect({ host, port, username: 'nobody', password: '', readyTimeout: CONNECT_TIMEOUT_MS, hostVerifier })
    .catch((error: unknown) => {
      if (seenFingerprint === '')
        throw new StepFailure('unreachable', error instanceof Error ? error.message : String(error));
    });
  shell.dispose();
  return seenFingerprint;
}

async function* joined(answer: string, stdin: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (answer !== '') yield Buffer.from(answer);
  yield* stdin;
}

const scriptFaults = ['space', 'portTaken', 'noExec', 'artifact', 'package', 'start'] as const;
const isScriptFault = (fault: string | undefined): fault is (typeof scriptFaults)[number] =>
  scriptFaults.some((known) => known === fault);

/** Our scripts print `::fault <which> <words>` before they exit. */
function failureOf(lines: string[], code: number | null): StepFailure {
  const [, fault, words] =
    /^::fault (\w+) (.*)$/.exec(lines.findLast((line) => line.startsWith('::fault ')) ?? '') ?? [];
  if (isScriptFault(fault)) return new StepFailure(fault, words ?? '');
  const last = lines.findLast((line) => line.trim() !== '') ?? '';
  return new StepFailure('command', `ended with ${code ?? 'a signal'}${last === '' ? '' : `: ${last.slice(0, 300)}`}`);
}

type Exec = (command: string, input: string) => Promise<{ code: number | null }>;

async function becomeRoot(user: string, password: string | null, exec: Exec) {
  if (user === 'root') return { prefix: '', answer: '' };
  if ((await exec('sudo -n true', '')).code === 0) return { prefix: 'sudo -n ', answer: '' };
  const answer = `${password ?? ''}\n`;
  if (password !== null && (await exec("sudo -S -p '' true", answer)).code === 0)
    return { prefix: "sudo -S -p '' ", answer };
  throw new StepFailure('notRoot', `${user} may not become root by sudo`);
}

function refusalOf(error: unknown, seenFingerprint: string, { host, port, user, fingerprint }: Login): Error {
  const { level, message } =
    error instanceof Error
      ? { level: 'level' in error ? error.level : '', message: error.message }
      : { level: '', message: String(error) };
  if (seenFingerprint !== '' && fingerprint !== null && seenFingerprint !== fingerprint)
    return new StepFailure('hostKey', `the machine shows ${seenFingerprint}, expected is ${fingerprint}`);
  if (level === 'client-authentication') return new StepFailure('credentials', `${user} was not let in`);
  if (/privateKey|passphrase|parse/i.test(message)) return new StepFailure('credentials', message);
  // Without a host key the machine was unreachable. Afterwards the connection broke.
  if (seenFingerprint === '') return new StepFailure('unreachable', `${host} port ${port}: ${message}`);
  return new ConnectionBroken(message);
}

export const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
