// Cost of a sign-in, the part of the deliberately slow password hash, and the cost of authenticating a call, in CPU
// time of the API's process. The clients are another process.
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { hashPassword, isPassword } from '@edgeloom/api/core/auth/passwords.ts';
import { oidc, oidcSetting, session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { connect } from '@edgeloom/contract/client.ts';
import { pathAt, type Endpoint } from '@edgeloom/contract/endpoint.ts';
import { startApp, type TestApp } from '../support/services/running-app.ts';
import { cloneDatabase, startServices } from '../support/services/start-services.ts';

const run = promisify(execFile);
const password = 'correct horse battery';
const {
  seconds,
  people,
  rounds: callRounds,
  json,
  client,
} = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    people: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'string', default: '.data/bench/signin.json' },
    /** URL of the API, in the client process. */
    client: { type: 'string' },
  },
}).values;

if (client === undefined) await bench();
else await signPeopleIn(client);

async function bench() {
  const services = await startServices();
  try {
    const app = await startApp(services, await cloneDatabase(services), { LOG_REQUESTS: 'false' });
    try {
      await report(await measureSignIns(app), await measureCalls(app));
    } finally {
      await app.close();
    }
  } finally {
    await services.stop();
  }
}

interface Cost {
  perSecond: number;
  microseconds: number;
}

async function measureSignIns({ url, build, installation }: TestApp): Promise<Cost & { argon2Microseconds: number }> {
  const { clientId } = await build.client();
  const passwordHash = await hashPassword(password);
  const emails = Array.from({ length: Number(people) }, (_, i) => `bench-${i}@example.com`);
  await installation.db.account.createMany({
    data: emails.map((email) => ({
      kind: 'client' as const,
      email,
      name: email,
      passwordHash,
      isRoot: true,
      clientId,
      login2faType: 2,
    })),
  });
  const verifications = 5 * emails.length;
  const alone = process.cpuUsage();
  for (let i = 0; i < verifications; i += 1) await isPassword(passwordHash, password);
  const argon2Microseconds = spent(alone) / verifications;

  const child = fork(import.meta.filename, ['--client', url, '--people', people, '--seconds', seconds]);
  const [first] = await once(child, 'message');
  if (first !== 'warm') throw new Error(`the client said ${String(first)}`);
  const before = process.cpuUsage();
  const [done] = await once(child, 'message');
  const used = spent(before);
  await once(child, 'exit');
  const count = Number(done);
  return { perSecond: count / Number(seconds), microseconds: used / count, argon2Microseconds };
}

/** Each account signs in repeatedly, one sign-in after the other. */
async function signPeopleIn(url: string) {
  const call = connect({ base: `${url}/api/v1`, family: 'client', token: () => null });
  const signOne = async (i: number) => {
    const email = `bench-${i}@example.com`;
    const { onePassKey, vcode = '' } = await call(session.login, { body: { email, password } });
    await call(session.code, { body: { email, onePassKey, vcode } });
  };
  const all = Array.from({ length: Number(people) }, (_, i) => i);
  await Promise.all(all.map(signOne));
  process.send?.('warm');
  const until = Date.now() + Number(seconds) * 1000;
  let count = 0;
  await Promise.all(
    all.map(async (i) => {
      while (Date.now() < until) {
        await signOne(i);
        count += 1;
      }
    }),
  );
  process.send?.(String(count));
  process.disconnect();
}

/** The same lookup of one row, by an anonymous and an authenticated call. */
async function measureCalls({ url, build }: TestApp): Promise<{ anyone: Cost; signedIn: Cost }> {
  const { client: account } = await build.client();
  const at = (endpoint: Endpoint) => `${url}/api/v1/${pathAt('client', endpoint)}`;
  const rounds = { anyone: [] as Cost[], signedIn: [] as Cost[] };
  for (let round = -1; round < Number(callRounds); round += 1) {
    const costs = { anyone: await ask(at(oidc.button), null), signedIn: await ask(at(oidcSetting.get), account.token) };
    if (round < 0) continue;
    rounds.anyone.push(costs.anyone);
    rounds.signedIn.push(costs.signedIn);
  }
  return { anyone: median(rounds.anyone), signedIn: median(rounds.signedIn) };
}

async function ask(url: string, token: string | null): Promise<Cost> {
  const before = process.cpuUsage();
  const header = token === null ? [] : ['-H', `Authorization: Bearer ${token}`];
  const { stdout } = await run('wrk', ['-t1', '-c8', `-d${seconds}s`, ...header, url]);
  const count = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  if (!(count > 0) || stdout.includes('Non-2xx')) throw new Error(`wrk at ${url} said:\n${stdout}`);
  return { perSecond: count / Number(seconds), microseconds: spent(before) / count };
}

function median(costs: Cost[]): Cost {
  const sorted = costs.toSorted((a, b) => a.microseconds - b.microseconds);
  return sorted[Math.floor(sorted.length / 2)] ?? { perSecond: 0, microseconds: 0 };
}

function spent(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function report(
  signIn: Awaited<ReturnType<typeof measureSignIns>>,
  calls: Awaited<ReturnType<typeof measureCalls>>,
) {
  const round = (value: number) => Math.round(value * 10) / 10;
  const { anyone, signedIn } = calls;
  const figures = {
    'sign-ins per second': round(signIn.perSecond),
    'CPU of a sign-in, ms': round(signIn.microseconds / 1000),
    'of it argon2, ms': round(signIn.argon2Microseconds / 1000),
    'share of argon2, %': round((signIn.argon2Microseconds / signIn.microseconds) * 100),
    'CPU of a call by anyone, µs': round(anyone.microseconds),
    'CPU of the same call signed in, µs': round(signedIn.microseconds),
    'what signing in adds, %': round((signedIn.microseconds / anyone.microseconds - 1) * 100),
  };
  console.table(figures);
  const [{ model } = { model: 'unknown' }] = cpus();
  const machine = { cpu: model, cores: cpus().length, memoryBytes: totalmem(), node: process.version };
  await mkdir(path.dirname(json), { recursive: true });
  await writeFile(json, `${JSON.stringify({ machine, figures }, null, 2)}\n`);
  console.log(`Written to ${json}`);
}
