import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import type { Terminal } from './terminal.ts';

/** An error that the user can correct. `lines` are printed below its message. */
export class CommandError extends Error {
  readonly lines: readonly string[];

  constructor(message: string, { lines = [], cause }: { lines?: readonly string[]; cause?: unknown } = {}) {
    super(message, { cause });
    this.lines = lines;
  }
}
/** Wrong arguments. The usage of the command is printed, too. */
export class UsageError extends Error {}

export interface Command {
  /** Arguments after the command's name. */
  usage: string;
  summary: string;
  /** Returns the exit status, if it is not 0. */
  run: (terminal: Terminal, args: string[]) => Promise<number | void>;
}

export function readArguments<const O extends ParseArgsOptionsConfig>(args: string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

export function assertNoPositionals(positionals: readonly string[]): void {
  if (positionals.length > 0) throw new UsageError(`Unexpected argument: ${positionals[0]}`);
}

/** Asks before a change. Without a terminal the caller must have passed `--yes`. */
export async function confirm(terminal: Terminal, question: string, isConfirmed: boolean): Promise<void> {
  if (isConfirmed) return;
  if (!terminal.isInteractive) throw new CommandError('Nothing was changed: pass --yes to confirm without a terminal.');
  const answer = await terminal.ask(`${question} [y/N]`);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError('Nothing was changed.');
}

export const siteOption = { site: { type: 'string' } } as const;
export const yesOption = { yes: { type: 'boolean', default: false } } as const;
export const jsonOption = { json: { type: 'boolean', default: false } } as const;
