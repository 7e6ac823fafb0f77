// npm start: the whole product on one machine. pnpm dev: the same, with reload.
import { parseArgs } from 'node:util';
import { line, step, Trouble } from '../steps.mjs';
import { hideSummary, showSummary } from './demo.ts';
import type { Summary } from './demo.ts';
import { openFolders, removeData } from './folders.ts';
import type { Folders } from './folders.ts';
import { programs, stopLeftovers, takeOver } from './leftovers.ts';
import { holderOf, isFree } from './port-holder.ts';
import { helpText, listeners, readSettings } from './settings.ts';
import type { Settings } from './settings.ts';
import { startStack } from './stack.ts';
import type { Supervised } from './supervisor.ts';
import { startVisitors } from './visitors.ts';

async function main(): Promise<number> {
  const options = { fresh: { type: 'boolean' }, dev: { type: 'boolean' }, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ options });
  if (values.help) {
    line(helpText());
    return 0;
  }
  const startedAt = performance.now();
  const settings = readSettings();
  const dev = values.dev ?? false;
  const stopAsked = untilAskedToStop();
  const folders = await openFolders(settings.EDGELOOM_DATA, line);
  const announceStop = await takeOver(folders);
  await hideSummary(folders);
  const leftovers = await stopLeftovers(folders);
  if (leftovers.length > 0) line(`Stopped what a killed run had left: ${leftovers.join(', ')}`);
  if (values.fresh) await beginAnew(settings, folders);
  await assertPortsFree(settings, dev);

  const running: Supervised[] = [];
  let endVisits = () => {};
  try {
    const started = startStack({ settings, folders, dev }, running);
    const stack = await Promise.race([started, stopAsked]);
    // On an early stop, wait for what is still starting, so that it can be stopped.
    if (stack === 'stop') await started.catch(() => undefined);
    else {
      await showSummary(folders, stack.summary);
      if (settings.DEMO_VISITORS === 'on') endVisits = startVisitors(stack.summary, settings);
      line(`\nEverything is up after ${((performance.now() - startedAt) / 1000).toFixed(1)} s. Ctrl-C stops it.\n`);
      line(overview(stack.summary, stack.isFirst, settings, folders, dev));
      await stopAsked;
    }
    return 0;
  } finally {
    endVisits();
    await hideSummary(folders);
    await announceStop();
    await stopAll(running);
  }
}

/** Resolves on a signal, or when the parent process (npm) is gone. */
function untilAskedToStop(): Promise<'stop'> {
  return new Promise((resolve) => {
    const ask = () => resolve('stop');
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ask);
    if (process.connected) process.once('disconnect', ask);
  });
}

async function beginAnew(settings: Settings, folders: Folders) {
  if (settings.DATABASE_URL !== undefined) {
    throw new Trouble('--fresh does not empty a database that DATABASE_URL names: empty it yourself, then start again');
  }
  await step('Throwing the data away', () => removeData(folders));
}

async function assertPortsFree(settings: Settings, dev: boolean) {
  const troubles: string[] = [];
  for (const { variable, who, host, port } of listeners(settings, { dev })) {
    if (await isFree(host, port)) continue;
    const holder = await holderOf(port);
    troubles.push(
      `Port ${port}, for ${who}, is taken by ${holder ?? 'a process that this user may not see'}.\n` +
        `  Stop that, or choose another port: ${variable}=${port + 10_000 > 65_535 ? port - 10_000 : port + 10_000} npm start`,
    );
  }
  if (troubles.length > 0) throw new Trouble(troubles.join('\n'));
}

async function stopAll(running: Supervised[]) {
  if (running.length === 0) return;
  line('');
  await step('Stopping', async (report) => {
    for (const program of running.toSorted((a, b) => programs.indexOf(a.name) - programs.indexOf(b.name))) {
      report(program.name);
      await program.stop();
    }
    report('all ended');
  });
}

function overview(summary: Summary, isFirst: boolean, settings: Settings, folders: Folders, dev: boolean): string {
  const { accounts, demo } = summary;
  const password = (account: keyof Summary['accounts']) => (isFirst ? accounts[account].password : '');
  const rows = [
    ['Console, customers', `${summary.console}/user/`, accounts.user.email, password('user')],
    ['Console, operators', `${summary.console}/client/`, accounts.client.email, password('client')],
    ['Console, admin', `${summary.adminConsole}/admin/`, accounts.admin.email, password('admin')],
    ['API', `${summary.api}/api/v1/health`],
    ['Edge', `${summary.edge.http}, ${summary.edge.https}`],
    ['Demo origin', summary.origin],
    ...(dev ? [['Console with reload', `http://127.0.0.1:${settings.CONSOLE_DEV_PORT}`]] : []),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const table = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [
    ...table,
    '',
    isFirst
      ? `The passwords are shown this once; they are also in ${folders.summary}.`
      : `Accounts, passwords and ids: ${folders.summary}`,
    `Through the edge:  curl -i -H 'Host: ${demo.domain}' ${summary.edge.http}/`,
    `Logs: ${folders.logs}`,
  ].join('\n');
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof Trouble) line(`\n${error.message}`);
  else console.error(error);
  process.exitCode = 1;
}
// The IPC channel to the parent would keep this process alive.
if (process.connected) process.disconnect();
setTimeout(() => process.exit(), 2000).unref();
