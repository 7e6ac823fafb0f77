// The command line against the real API.
import { execFile } from 'node:child_process';
import { chmod, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { apiTokens } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { nameProofSetting } from '@edgeloom/contract/name-proof-setting/name-proof-setting.endpoints.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { eventually } from '../support/assertions/eventually.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { unique } from '../support/builders/build.ts';
import { addLogs, logLine } from '../support/builders/traffic.ts';
import { startTcpProxy } from '../support/fakes/tcp-proxy.ts';
import { commandLine } from '../support/fakes/terminal.ts';
import { testApp } from '../support/services/app.ts';

const app = await testApp();
const { as, build, installation } = app;
afterAll(() => app.close());

const everything: Permission[] = ['site:read', 'domain:read', 'domain:write', 'cache:write', 'cache:read', 'log:read'];
async function tokenOf(owner: SignedInAccount, permissions = everything) {
  const body = { name: unique('token'), permissions, cidrs: [], expiresAt: null };
  return (await as(owner).call(apiTokens.create, { body })).refreshToken;
}
/** A command line with the token of a site's owner. */
async function commandsOf(owner: SignedInAccount, permissions = everything) {
  return commandLine({ EDGELOOM_URL: app.url, EDGELOOM_TOKEN: await tokenOf(owner, permissions) });
}

describe('login', () => {
  test('stores the token for its owner only, and other commands use it', async () => {
    const { owner } = await build.site();
    const cli = await commandLine();
    const token = await tokenOf(owner);
    const login = await cli.run(['login', `${app.url}/`], { input: `${token}\n` });
    expect(login).toMatchObject({ status: 0, errors: '' });
    expect(login.output).toContain(`as ${owner.email} (customer)`);
    expect(login.output).not.toContain(token);
    const file = path.join(cli.home, '.config/edgeloom/credentials.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ url: app.url, family: 'user', token });
    const whoami = await cli.run(['whoami']);
    expect(whoami.output).toContain(`<${owner.email}>, customer at ${app.url}`);
    expect(whoami.output).toContain('domain:write');
  });

  test('asks a person for the token without showing it, and knows an operator', async () => {
    const { client } = await build.client();
    const cli = await commandLine();
    const token = await tokenOf(client, ['zone:read']);
    const login = await cli.run(['login', app.url], { answer: token });
    expect(login.status).toBe(0);
    expect(login.output).toContain('(operator)');
    expect(login.output + login.errors).not.toContain(token);
  });

  test('puts the file into the folder of XDG_CONFIG_HOME', async () => {
    const { owner } = await build.site();
    const cli = await commandLine();
    const env = { XDG_CONFIG_HOME: path.join(cli.home, 'xdg') };
    await cli.run(['login', app.url], { env, input: await tokenOf(owner) });
    expect((await stat(path.join(cli.home, 'xdg/edgeloom/credentials.json'))).mode & 0o777).toBe(0o600);
  });

  test('refuses a wrong token with the catalogue message and the request ID, and stores nothing', async () => {
    const cli = await commandLine();
    const login = await cli.run(['login', app.url], { input: `cdn_${'A'.repeat(65)}` });
    expect(login).toMatchObject({ status: 1, output: '' });
    expect(login.errors).toMatch(
      /^Error 101013: Invalid Token\n[^]*Run edgeloom login\.\nRequest ID: [0-9a-f-]{36}\n$/,
    );
    expect((await cli.run(['whoami'])).errors).toContain('You are not signed in.');
  });

  test('refuses HTTP to another machine', async () => {
    const cli = await commandLine();
    const login = await cli.run(['login', 'http://cdn.example.com'], { input: 'cdn_x' });
    expect(login).toMatchObject({ status: 1 });
    expect(login.errors).toContain('Use https://');
  });

  test('is undone by logout', async () => {
    const { owner } = await build.site();
    const cli = await commandLine();
    await cli.run(['login', app.url], { input: await tokenOf(owner) });
    expect((await cli.run(['logout'])).status).toBe(0);
    expect((await cli.run(['whoami'])).status).toBe(1);
  });
});

test('a token that other users can read is refused', async () => {
  const { owner } = await build.site();
  const cli = await commandLine();
  await cli.run(['login', app.url], { input: await tokenOf(owner) });
  await chmod(path.join(cli.home, '.config/edgeloom/credentials.json'), 0o644);
  expect((await cli.run(['whoami'])).errors).toContain('chmod 600');
});

test('an installation that does not respond is named', async () => {
  const cli = await commandLine({ EDGELOOM_URL: 'http://127.0.0.1:1', EDGELOOM_TOKEN: 'cdn_x' });
  const { status, errors } = await cli.run(['whoami']);
  expect(status).toBe(1);
  expect(errors).toMatch(/^http:\/\/127\.0\.0\.1:1 does not respond: /);
});

describe('domains', () => {
  test('are added, listed and removed', async () => {
    const site = await build.site();
    const cli = await commandsOf(site.owner);
    const [one, two] = [`${unique('one')}.example.com`, `${unique('two')}.example.com`];
    const added = await cli.run(['domains', 'add', one, two, '--origin', '192.0.2.1:8080', '--origin', '2001:db8::1']);
    expect(added).toMatchObject({ status: 0, errors: '' });
    expect(added.output).toContain(`Added ${one}.`);
    const listed = await cli.run(['domains', 'list']);
    expect(listed.output).toContain(one);
    expect(listed.output).toContain('192.0.2.1:8080 [2001:db8::1]:80');
    const removed = await cli.run(['domains', 'remove', one.toUpperCase()], { answer: 'y' });
    expect(removed).toMatchObject({ status: 0, output: `Removed ${one}.\n` });
    const { data } = await as(site.owner).call(domains.list, { params: site.params });
    expect(data.map(({ name }) => name)).toEqual([two]);
  });

  test('whose names need a proof are off, and are named', async () => {
    const site = await build.site();
    await as(site.client).call(nameProofSetting.update, { body: { everyName: true } });
    const cli = await commandsOf(site.owner);
    const name = `${unique('proof')}.example.com`;
    const added = await cli.run(['domains', 'add', name, '--origin', '192.0.2.1']);
    expect(added.output).toContain(`${name} is off until a TXT record verifies it.`);
  });

  test('have names of any script', async () => {
    const site = await build.site();
    const cli = await commandsOf(site.owner);
    const name = `${unique('größe')}.example.com`;
    expect(await cli.run(['domains', 'add', name, '--origin', '192.0.2.1'])).toMatchObject({ status: 0, errors: '' });
    expect(await cli.run(['domains', 'remove', name, '--yes'])).toMatchObject({ status: 0, errors: '' });
    expect((await as(site.owner).call(domains.list, { params: site.params })).total).toBe(0);
  });

  test('are removed after a confirmation only', async () => {
    const domain = await build.domain();
    const cli = await commandsOf(domain.site.owner);
    const removed = await cli.run(['domains', 'remove', domain.name], { answer: 'n' });
    expect(removed).toMatchObject({ status: 1, output: '' });
    expect((await cli.run(['domains', 'remove', domain.name])).errors).toContain('--yes');
    const { data } = await as(domain.site.owner).call(domains.list, { params: domain.site.params });
    expect(data).toMatchObject([{ name: domain.name, status: 1 }]);
    expect((await cli.run(['domains', 'remove', domain.name, '--yes'])).status).toBe(0);
  });

  test('that cannot be added are named with their reasons', async () => {
    const domain = await build.domain();
    const cli = await commandsOf(domain.site.owner);
    const added = await cli.run(['domains', 'add', domain.name, 'not_a_name', '--origin', '192.0.2.1']);
    expect(added).toMatchObject({ status: 1, output: '' });
    expect(added.errors).toContain('Error 101009: Multiple Errors');
    expect(added.errors).toContain(`${domain.name}: Duplicated data`);
    expect(added.errors).toMatch(/Request ID: [0-9a-f-]{36}\n$/);
  });

  test('of one of several sites need its name or its ID', async () => {
    const product = await build.product();
    const owner = await build.user(product);
    const site = await build.site({ product, owner });
    const { name } = await build.site({ product, owner });
    const { id } = await build.domain({ site });
    const cli = await commandsOf(owner);
    const listed = await cli.run(['domains', 'list']);
    expect(listed).toMatchObject({ status: 1 });
    expect(listed.errors).toContain(site.id);
    for (const one of [site.id, site.name]) {
      const { output } = await cli.run(['domains', 'list', '--json', '--site', one]);
      expect(JSON.parse(output)).toMatchObject({ id });
    }
    expect((await cli.run(['domains', 'list', '--site', name])).output).not.toContain('example.com');
    expect((await cli.run(['domains', 'list', '--site', 'nothing'])).errors).toBe('No site nothing.\n');
  });

  test('are refused to a token without the permission', async () => {
    const { owner } = await build.site();
    const cli = await commandsOf(owner, ['site:read']);
    const { status, errors } = await cli.run(['domains', 'list']);
    expect(status).toBe(1);
    expect(errors).toMatch(/^Error 101018: Permission Denied\nThe token does not have the permission/);
  });
});

test.each([
  ['URLs', (name: string) => [`https://${name}/a`, `https://${name}/b`], { type: 1, soft: false }],
  ['prefixes', (name: string) => ['--prefix', `https://${name}/a/`, '--soft'], { type: 2, soft: true }],
  ['hosts', (name: string) => ['--host', name], { type: 3 }],
  ['tags', () => ['--tag', 'news'], { type: 4, urls: ['news'] }],
  ['everything', () => ['--all'], { type: 0 }],
])('purge removes %s from the caches', async (_what, argsFor, row) => {
  const { name, site } = await build.domain();
  const cli = await commandsOf(site.owner);
  const purged = await cli.run(['purge', ...argsFor(name)]);
  expect(purged).toMatchObject({ status: 0, errors: '' });
  const { data } = await as(site.owner).call(purge.history, { params: site.params });
  expect(data).toMatchObject([row]);
  expect(purged.output).toContain(data[0]?.jobID);
});

test.each([[[]], [['--all', 'https://www.example.com/']], [['--tag', '--host', 'x']], [['--all', '--wait', 'long']]])(
  'purge %j is refused before any call',
  async (args) => {
    const cli = await commandLine();
    const { status, errors } = await cli.run(['purge', ...args]);
    expect(status).toBe(1);
    expect(errors).toContain('Usage: edgeloom purge URL…');
  },
);

test('purge --wait ends with 1 if a node has not answered in time, and with 0 when all have', async () => {
  const { name, site } = await build.domain();
  const { db } = installation;
  const node = await build.node({ zone: site.zone });
  await db.edgeNode.update({ where: { id: node.id }, data: { joinedAt: new Date() } });
  const cli = await commandsOf(site.owner);
  const { status, output, errors } = await cli.run(['purge', `https://${name}/a`, '--wait', '0']);
  expect(status).toBe(1);
  expect(output).toMatch(/\n0 of 1 nodes have purged\.\n$/);
  expect(errors).toBe(`  ${node.name}: has not answered yet\n`);

  const waiting = cli.start(['purge', `https://${name}/b`, '--wait', '600']);
  const jobId = await eventually(() => {
    const [, id] = /Job (\S+)\n/.exec(waiting.printed.output) ?? [];
    if (id === undefined) throw new Error('no job yet');
    return id;
  });
  await db.jobReceipt.update({ where: { jobId_nodeId: { jobId, nodeId: node.id } }, data: { state: 'done' } });
  await db.job.update({ where: { id: jobId }, data: { state: 'completed' } });
  expect(await waiting.status).toBe(0);
  expect(waiting.printed.output).toMatch(/\n1 of 1 nodes have purged\.\n$/);
});

test('purge --wait goes on after the connection broke', async () => {
  const { name, site } = await build.domain();
  const proxy = await startTcpProxy(app.url);
  onTestFinished(proxy.close);
  const node = await build.node({ zone: site.zone });
  await installation.db.edgeNode.update({ where: { id: node.id }, data: { joinedAt: new Date() } });
  const cli = await commandLine({ EDGELOOM_URL: proxy.url, EDGELOOM_TOKEN: await tokenOf(site.owner) });
  const waiting = cli.start(['purge', `https://${name}/a`, '--wait', '600']);
  await eventually(() => expect(waiting.printed.output).toContain('Job '));
  await proxy.cut();
  await eventually(() => expect(waiting.printed.errors).toBe('The connection broke. Connecting again …\n'));
  await proxy.restore();
  await installation.db.jobReceipt.updateMany({ where: { nodeId: node.id }, data: { state: 'done' } });
  await installation.db.job.updateMany({ where: { siteId: site.id }, data: { state: 'completed' } });
  expect(await waiting.status).toBe(0);
});

test('logs tail prints new requests, with their control characters as escapes', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const cli = await commandsOf(site.owner);
  const leaving = new AbortController();
  const tail = cli.start(['logs', 'tail', '--status', '5xx'], { signal: leaving.signal });
  const json = cli.start(['logs', 'tail', '--json', '--site', site.name], { signal: leaving.signal });
  const hostile = '/\u001b]0;owned\u0007\u202e';
  await eventually(async () => {
    // The stream may start after the first of these.
    const lines = [{ uri: '/fine' }, { uri: hostile, status: 502, userAgent: 'a\r\nb' }];
    await addLogs(
      installation.pool,
      id,
      lines.map((line) => logLine(site.id, line)),
    );
    expect(tail.printed.output).toContain('  502  ');
    expect(json.printed.output).toContain('/fine');
  });
  leaving.abort();
  expect(await Promise.all([tail.status, json.status])).toEqual([0, 0]);
  expect(tail.printed.output).not.toContain('/fine');
  expect(tail.printed.output).toContain('/\\u001b]0;owned\\u0007\\u202e');
  // oxlint-disable-next-line no-control-regex -- no control character but the end of a line
  expect(tail.printed.output + json.printed.output).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  const rows = json.printed.output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows).toContainEqual(expect.objectContaining({ uri: hostile, siteID: site.id }));
});

test('logs tail connects again after the connection broke, and ends if there was none', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const proxy = await startTcpProxy(app.url);
  onTestFinished(proxy.close);
  const cli = await commandLine({ EDGELOOM_URL: proxy.url, EDGELOOM_TOKEN: await tokenOf(site.owner) });
  const leaving = new AbortController();
  const tail = cli.start(['logs', 'tail'], { signal: leaving.signal });
  const printsRows = (uri: string) =>
    eventually(async () => {
      await addLogs(installation.pool, id, [logLine(site.id, { uri })]);
      expect(tail.printed.output).toContain(uri);
    });
  await printsRows('/before');
  await proxy.cut();
  await eventually(() => expect(tail.printed.errors).toBe('The connection broke. Connecting again …\n'));
  expect(await cli.run(['logs', 'tail'])).toMatchObject({ status: 1, errors: expect.stringContaining('not respond') });
  await proxy.restore();
  await printsRows('/after');
  leaving.abort();
  expect(await tail.status).toBe(0);
});

test('an operator works on the sites of its customers', async () => {
  const { name, site } = await build.domain();
  const cli = await commandsOf(site.client);
  const { status, output } = await cli.run(['domains', 'list', '--site', site.name]);
  expect(status).toBe(0);
  expect(output).toContain(name);
});

test('an administrator is refused, because it has no sites', async () => {
  const cli = await commandLine();
  const token = await tokenOf(await build.admin(), ['audit:read']);
  expect((await cli.run(['login', app.adminUrl], { input: token })).output).toContain('(administrator)');
  expect((await cli.run(['domains', 'list'])).errors).toContain('Administrators have no sites.');
});

describe('the program', () => {
  const folder = path.join(import.meta.dirname, '../../packages/cli');
  const start = promisify(execFile);

  // As `pnpm pack` does.
  beforeAll(() => start('npm', ['run', 'prepack'], { cwd: folder }));

  test.each(['src/main.ts', 'dist/edgeloom.mjs'])(
    '%s ends with its exit status, and separates results and errors',
    async (file) => {
      const program = path.join(folder, file);
      const { owner } = await build.site();
      const env = { ...process.env, EDGELOOM_URL: app.url, EDGELOOM_TOKEN: await tokenOf(owner) };
      const { stdout, stderr } = await start(process.execPath, [program, 'whoami', '--json'], { env });
      expect(stderr).toBe('');
      expect(JSON.parse(stdout)).toMatchObject({ email: owner.email, family: 'user' });
      const failing = start(process.execPath, [program, 'whoami', '--yaml'], { env });
      await expect(failing).rejects.toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('Usage: edgeloom whoami [--json]'),
      });
    },
  );

  test('lists its commands', async () => {
    const cli = await commandLine();
    const { status, output } = await cli.run(['--help']);
    expect(status).toBe(0);
    for (const name of ['login', 'domains add', 'purge', 'logs tail', 'apply']) expect(output).toContain(`  ${name} `);
    expect(await cli.run(['frobnicate'])).toMatchObject({ status: 1, output: '' });
  });
});
