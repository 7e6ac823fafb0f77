import { ApiError } from '@edgeloom/contract/client.ts';
import { CommandError, UsageError, type Command } from './command.ts';
import { login, logout, whoami } from './commands/account.ts';
import { add, list, remove } from './commands/domains.ts';
import { apply } from './apply/apply.ts';
import { tail } from './commands/logs.ts';
import { purge } from './commands/purge.ts';
import { explainError } from './explain-error.ts';
import { table, type Terminal } from './terminal.ts';

const commands = new Map<string, Command>([
  ['login', login],
  ['logout', logout],
  ['whoami', whoami],
  ['domains list', list],
  ['domains add', add],
  ['domains remove', remove],
  ['purge', purge],
  ['logs tail', tail],
  ['apply', apply],
]);

/** Runs a command and returns the exit status: 0, 1 after an error, or 2 if `apply --check` finds a difference. */
export async function run(args: string[], terminal: Terminal): Promise<number> {
  const found = findCommand(args);
  if (found === null) {
    const isHelp = args.length === 0 || args.includes('--help') || args[0] === 'help';
    if (!isHelp) terminal.printError(`Unknown command: ${args.slice(0, 2).join(' ')}`);
    help().forEach(isHelp ? terminal.print : terminal.printError);
    return isHelp ? 0 : 1;
  }
  const { name, command, rest } = found;
  const usage = `Usage: edgeloom ${name} ${command.usage}`.trimEnd();
  if (rest.includes('--help')) {
    terminal.print(`${usage}  # ${command.summary}`);
    return 0;
  }
  try {
    return (await command.run(terminal, rest)) ?? 0;
  } catch (error) {
    linesOf(error, usage).forEach(terminal.printError);
    return 1;
  }
}

function findCommand(args: string[]) {
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(' ');
    const command = commands.get(name);
    if (command) return { name, command, rest: args.slice(words) };
  }
  return null;
}

function linesOf(error: unknown, usage: string): string[] {
  if (error instanceof ApiError) return explainError(error);
  if (error instanceof UsageError) return [error.message, usage];
  if (error instanceof CommandError) return [error.message, ...error.lines];
  return (error instanceof Error ? (error.stack ?? error.message) : String(error)).split('\n');
}

const help = () => [
  'Usage: edgeloom COMMAND',
  '',
  ...table([...commands].map(([name, { summary }]) => [`  ${name}`, summary])),
  '',
  'edgeloom COMMAND --help shows the arguments. SITE is the name or the ID of a site; it may be left out if you have one.',
  'EDGELOOM_URL and EDGELOOM_TOKEN replace the stored login, for example in CI.',
];
