import { readArguments, assertNoPositionals, CommandError, jsonOption, UsageError, type Command } from '../command.ts';
import { removeCredentials, saveCredentials } from '../credentials.ts';
import { installationUrl, openSession, signIn } from '../session.ts';
import { session as sessions } from '@edgeloom/contract/auth/auth.endpoints.ts';
import type { Terminal } from '../terminal.ts';

const kinds = { user: 'customer', client: 'operator', admin: 'administrator' } as const;

export const login: Command = {
  usage: 'URL [--allow-http]',
  summary: 'store the address of an installation and an API token (asked for, or read from standard input)',
  async run(terminal, args) {
    const { values, positionals } = readArguments(args, { 'allow-http': { type: 'boolean', default: false } });
    const [address, ...rest] = positionals;
    if (address === undefined) throw new UsageError('The URL is missing.');
    assertNoPositionals(rest);
    const url = installationUrl(address, { allowHttp: values['allow-http'] });
    const token = await readToken(terminal);
    const { family, account } = await signIn(url, token);
    const file = await saveCredentials(terminal.env, { url, family, token });
    terminal.print(`Signed in to ${url} as ${account.email} (${kinds[family]}). The token is in ${file}.`);
  },
};

/** Never an argument: other users of the machine can see arguments. */
async function readToken(terminal: Terminal): Promise<string> {
  const text = terminal.isInteractive ? await terminal.askSecret('API token:') : await terminal.readInput();
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw new CommandError('An API token is one word, such as cdn_AbC…');
  return token;
}

export const logout: Command = {
  usage: '',
  summary: 'delete the stored token from this machine (it stays valid until it is revoked in the console)',
  async run(terminal, args) {
    assertNoPositionals(readArguments(args, {}).positionals);
    await removeCredentials(terminal.env);
    terminal.print('The token is no longer stored on this machine.');
  },
};

export const whoami: Command = {
  usage: '[--json]',
  summary: 'show the installation, the account and its permissions',
  async run(terminal, args) {
    const { values, positionals } = readArguments(args, jsonOption);
    assertNoPositionals(positionals);
    const { url, family, call } = await openSession(terminal);
    const { email, name, permissions } = await call(sessions.self);
    if (values.json) return terminal.print(JSON.stringify({ url, family, email, name, permissions }));
    terminal.print(`${name} <${email}>, ${kinds[family]} at ${url}`);
    terminal.print(`Permissions: ${permissions.join(', ') || 'none'}`);
  },
};
