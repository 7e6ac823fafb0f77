// Everything that the program reads from and prints to its user. Names, log lines and messages are other people's
// texts, so each printed line passes `printable`.
import { createInterface } from 'node:readline/promises';
import { Writable, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  /** Whether a person can answer questions. */
  isInteractive: boolean;
  /** Ends a stream. Ctrl-C ends the process without it. */
  signal: AbortSignal;
  print: (line: string) => void;
  printError: (line: string) => void;
  readInput: () => Promise<string>;
  ask: (question: string) => Promise<string>;
  /** Does not show what is typed. */
  askSecret: (question: string) => Promise<string>;
}

/** Control and format characters, which move the cursor, change the title, or reverse the direction of a line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Unprintable characters as escapes of JSON, so that printed JSON keeps its value. */
export const printable = (line: string): string =>
  line.replace(UNPRINTABLE, (char) =>
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );

/** Lines with aligned columns. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(printable));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

interface Streams {
  env: Terminal['env'];
  input: Readable;
  output: Writable;
  errors: Writable;
  isInteractive: boolean;
  signal?: AbortSignal;
}

export function openTerminal({ env, input, output, errors, isInteractive, signal }: Streams): Terminal {
  const readLine = async (question: string, echo: Writable) => {
    errors.write(`${printable(question)} `);
    const reader = createInterface({ input, output: echo, terminal: true });
    try {
      return await reader.question('');
    } finally {
      reader.close();
      errors.write('\n');
    }
  };
  return {
    env,
    isInteractive,
    signal: signal ?? new AbortController().signal,
    print: (line) => void output.write(`${printable(line)}\n`),
    printError: (line) => void errors.write(`${printable(line)}\n`),
    readInput: () => text(input),
    ask: (question) => readLine(question, errors),
    askSecret: (question) => readLine(question, new Writable({ write: (_chunk, _encoding, done) => done() })),
  };
}

export function processTerminal(): Terminal {
  const { env, stdin, stdout, stderr } = process;
  // The reader of a pipe has left: `edgeloom logs tail | head`.
  stdout.on('error', () => process.exit(0));
  return openTerminal({ env, input: stdin, output: stdout, errors: stderr, isInteractive: stdin.isTTY });
}
