// Destinations are real servers of each protocol on loopback, which the test's installation permits.
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTcp, type Server } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { logDestinations } from '@edgeloom/contract/log-destinations/log-destinations.endpoints.ts';
import type { LogDestinationInput } from '@edgeloom/contract/log-destinations/log-destinations.ts';
import { afterAll, expect, test, vi } from 'vitest';
import type * as z from 'zod';
import { createAuthority } from '../../../../tests/support/builders/certificate-authority.ts';
import { addLogs, logLine } from '../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../tests/support/services/app.ts';
import { sweepLogSpool } from '../jobs/push-logs.job.ts';
import { claimDestination, runPush } from './run-push.ts';
import { sendSyslog } from './syslog.ts';

const app = await testApp({ ORIGIN_ALLOW: '127.0.0.0/8' });
const { as, build, installation } = app;
const { pool, db } = installation;
const servers: { close: () => unknown }[] = [];
afterAll(async () => {
  for (const server of servers) server.close();
  await app.close();
});

interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

async function httpServer(status: () => number = () => 200) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      response.writeHead(status()).end('a text that nobody may read');
      if (response.statusCode < 300) received.push({ method, url, headers, body: Buffer.concat(chunks) });
    });
  });
  return { received, url: `http://127.0.0.1:${await listening(server)}` };
}

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

type Input = z.input<typeof LogDestinationInput>;
async function siteWith(...inputs: Input[]) {
  const site = await build.site();
  const { id: node } = await build.node({ zone: site.zone });
  const params = { siteId: site.id };
  const made = [];
  for (const body of inputs) made.push(await as(site.owner).call(logDestinations.create, { params, body }));
  const states = async () => (await as(site.owner).call(logDestinations.list, { params })).data;
  const send = (...uris: string[]) =>
    addLogs(
      pool,
      node,
      uris.map((uri) => logLine(site.id, { uri })),
    );
  return { site, params, made, states, send };
}
const http = (url: string, more: Partial<Extract<Input, { kind: 'http' }>> = {}): Input => ({
  kind: 'http',
  name: 'h',
  url,
  ...more,
});

/** One pass of the background process. */
async function pushAll() {
  for (let claimed = await claimDestination(pool); claimed; claimed = await claimDestination(pool))
    await runPush(installation, claimed, new AbortController().signal);
}
/** The column rounds to milliseconds, so the present could lie ahead. */
const allDue = () => pool.query(`UPDATE log_destinations SET due_at = now() - interval '1 second'`);
const urisOf = (bodies: readonly Buffer[]) =>
  bodies.flatMap((body) =>
    gunzipSync(body)
      .toString()
      .trim()
      .split('\n')
      .map((line): string => JSON.parse(line).uri),
  );

test('HTTP receives each line once, with the secret, and the list shows the state', async () => {
  const server = await httpServer();
  const { made, states, send } = await siteWith(
    http(`${server.url}/in`, { secret: 'token-1' }),
    http(`${server.url}/own`, { secret: 'k', headerName: 'X-Key' }),
  );
  await send('/a', '/b');
  await send('/c');
  expect(await states()).toMatchObject([{ waitingLines: 3, sentLines: 0 }, { waitingLines: 3 }]);
  await pushAll();
  await send('/d');
  await pushAll();
  const bodies = (path: string) => server.received.filter(({ url }) => url === path);
  expect(urisOf(bodies('/in').map(({ body }) => body))).toEqual(['/a', '/b', '/c', '/d']);
  expect(bodies('/in')[0]?.headers).toMatchObject({
    authorization: 'Bearer token-1',
    'content-encoding': 'gzip',
    'content-type': 'application/x-ndjson',
    'x-edgeloom-batch': '1-2',
  });
  expect(bodies('/own')[0]?.headers).toMatchObject({ 'x-key': 'k' });
  expect(await states()).toMatchObject([
    { sentLines: 4, waitingLines: 0, delaySeconds: 0, lastError: '', hasSecret: true, failingSince: null },
    {},
  ]);
  expect(JSON.stringify([made, await states()])).not.toContain('token-1');
  expect(Number((await pool.query('SELECT count(*) FROM log_spool')).rows[0]?.count)).toBe(0);
});

test('a dead destination does not slow another, catches up, and counts what expired', async () => {
  let status = 503;
  const [dead, alive] = [await httpServer(() => status), await httpServer()];
  const { states, send } = await siteWith(http(dead.url), http(alive.url));
  await send('/a');
  await send('/b');
  await pushAll();
  expect(urisOf(alive.received.map(({ body }) => body))).toEqual(['/a', '/b']);
  expect(await states()).toMatchObject([
    { lastError: 'status 503', waitingLines: 2, sentLines: 0 },
    { lastError: '', waitingLines: 0 },
  ]);
  // The first batch becomes too old while the destination is dead.
  await pool.query(`UPDATE log_spool SET stored_at = now() - interval '25 hours' WHERE number = 1`);
  await sweepLogSpool(installation);
  status = 200;
  await allDue();
  await pushAll();
  expect(urisOf(dead.received.map(({ body }) => body))).toEqual(['/b']);
  expect((await states())[0]).toMatchObject({
    sentLines: 1,
    droppedLines: 1,
    waitingLines: 0,
    lastError: '',
    failingSince: null,
  });
});

test('a process that dies after a delivery repeats it, and two processes do not deliver at once', async () => {
  const server = await httpServer();
  const { send } = await siteWith(http(server.url));
  await send('/a');
  const claimed = await claimDestination(pool);
  expect(await claimDestination(pool)).toBeNull();
  // The position is never stored.
  await pool.query('UPDATE log_destinations SET claimed_by = NULL, claimed_until = NULL WHERE id = $1', [claimed?.id]);
  if (claimed) await runPush(installation, claimed, new AbortController().signal);
  await pushAll();
  expect(urisOf(server.received.map(({ body }) => body))).toEqual(['/a', '/a']);
});

test('S3 receives an object that is signed', async () => {
  const server = await httpServer();
  const input = {
    endpoint: server.url,
    bucket: 'logs',
    region: 'eu-central-1',
    prefix: 'cdn/',
    accessKeyID: 'AKIAEXAMPLE',
  };
  const { site, send, states } = await siteWith({ kind: 's3', name: 's', ...input, secret: 'secret-key' });
  await send('/a');
  await send('/b');
  await pushAll();
  const [object, ...others] = server.received;
  expect(others).toEqual([]);
  expect(object?.url).toMatch(new RegExp(`^/logs/cdn/\\d{4}/\\d\\d/\\d\\d/${site.id}-0{11}1\\.ndjson\\.gz$`));
  expect(urisOf([object?.body ?? Buffer.alloc(0)])).toEqual(['/a', '/b']);
  expect(object && isSigned(object, 'secret-key')).toBe(true);
  expect(object && isSigned(object, 'another-key')).toBe(false);
  // The next object comes a minute later.
  await send('/c');
  await pushAll();
  expect(server.received).toHaveLength(1);
  expect(await states()).toMatchObject([{ sentLines: 2, waitingLines: 1 }]);
});

/** The server's side of Signature Version 4, from the request as it came. */
function isSigned({ method, url, headers, body }: Received, key: string): boolean {
  const found =
    /Credential=[^/]+\/(\d+)\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)/.exec(
      headers.authorization ?? '',
    );
  const [, day = '', region = '', names = '', signature] = found ?? [];
  const hash = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
  const sign = (with_: string | Buffer, text: string) => createHmac('sha256', with_).update(text).digest();
  const canonical = [
    method,
    url,
    '',
    ...names.split(';').map((name) => `${name}:${String(headers[name])}`),
    '',
    names,
    hash(body),
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], `${day}/${region}/s3/aws4_request`, hash(canonical)].join(
    '\n',
  );
  const derived = sign(sign(sign(sign(`AWS4${key}`, day), region), 's3'), 'aws4_request');
  return sign(derived, text).toString('hex') === signature;
}

/** The messages of a stream framed by their lengths (RFC 6587). */
function messagesOf(stream: Buffer): string[] {
  const messages = [];
  for (let at = 0; at < stream.length;) {
    const space = stream.indexOf(' ', at);
    const length = Number(stream.subarray(at, space).toString());
    messages.push(stream.subarray(space + 1, space + 1 + length).toString());
    at = space + 1 + length;
  }
  return messages;
}

test('syslog receives RFC 5424 over TCP and TLS, and an unknown certificate is refused', async () => {
  const received = { tcp: Buffer.alloc(0), tls: Buffer.alloc(0) };
  const into = (which: keyof typeof received) => (socket: NodeJS.ReadableStream) =>
    socket
      .on('data', (chunk) => (received[which] = Buffer.concat([received[which], Buffer.from(chunk)])))
      .on('error', () => undefined);
  const authority = await createAuthority();
  const { chainPem: cert, keyPem: key } = await authority.issue(['localhost,IP:127.0.0.1']);
  const [tcp, tls] = [await listening(createTcp(into('tcp'))), await listening(createTls({ cert, key }, into('tls')))];
  const host = '127.0.0.1';
  const { site, send, states } = await siteWith(
    { kind: 'syslog', name: 'tcp', host, port: tcp, tls: false },
    { kind: 'syslog', name: 'tls', host, port: tls, ca: authority.rootPem },
    { kind: 'syslog', name: 'unknown', host, port: tls },
  );
  await send('/a', '/“b”\n');
  await pushAll();
  for (const stream of [received.tcp, received.tls]) {
    const messages = messagesOf(stream);
    expect(messages).toHaveLength(2);
    const [, priority, message] =
      /^<(\d+)>1 \S+Z [0-9a-f-]{36} edgeloom - access - (\{.*\})$/.exec(messages[1] ?? '') ?? [];
    expect(priority).toBe('134');
    expect(JSON.parse(message ?? '')).toMatchObject({ siteID: site.id, uri: '/“b”\n' });
  }
  expect(await states()).toMatchObject([
    { sentLines: 2 },
    { sentLines: 2 },
    { sentLines: 0, lastError: 'certificate' },
  ]);
});

test('a test delivers one line and says what is wrong, without text of the server', async () => {
  let status = 200;
  const server = await httpServer(() => status);
  const { site, params, made } = await siteWith(http(server.url));
  const call = () =>
    as(site.owner).call(logDestinations.test, { params: { ...params, destinationID: made[0]?.id ?? '' } });
  expect(await call()).toEqual({ error: '' });
  expect(JSON.parse(gunzipSync(server.received[0]?.body ?? Buffer.alloc(0)).toString())).toMatchObject({ test: true });
  status = 401;
  expect(await call()).toEqual({ error: 'status 401' });
});

test('forbidden addresses are refused', async () => {
  const { site, params } = await siteWith();
  const create = (body: Input) => as(site.owner).call(logDestinations.create, { params, body });
  await expect(create(http('https://10.0.0.1/'))).rejects.toMatchObject({
    status: 400,
    envelope: { errorData: [{ path: 'url', rule: 'policy' }] },
  });
  await expect(create({ kind: 'syslog', name: 's', host: '169.254.169.254' })).rejects.toMatchObject({
    envelope: { errorData: [{ path: 'host' }] },
  });
  await expect(create(http('http://192.0.2.1/'))).rejects.toMatchObject({ status: 400 });
  await expect(create(http('http://127.0.0.1/', { headerName: 'Host' }))).rejects.toMatchObject({ status: 400 });
});

test('a site has four destinations at most, and no other account sees them', async () => {
  const { site, params, made } = await siteWith(http('http://127.0.0.1/'));
  const other = await build.site();
  const body = http('http://127.0.0.1/');
  const done = await Promise.allSettled(
    Array.from({ length: 6 }, () => as(site.owner).call(logDestinations.create, { params, body })),
  );
  expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  await expect(as(other.owner).call(logDestinations.list, { params })).rejects.toMatchObject({ status: 404 });
  const ids = [made[0]?.id ?? ''];
  const elsewhere = { params: { siteId: other.id }, body: { ids } };
  await expect(as(other.owner).call(logDestinations.remove, elsewhere)).rejects.toMatchObject({ status: 404 });
  await as(site.owner).call(logDestinations.remove, { params, body: { ids } });
});

test('a secret stays with a new name, and not with a new address or path', async () => {
  const server = await httpServer();
  const { site, params, made, send } = await siteWith(http(`${server.url}/a`, { secret: 'token-1' }));
  const id = made[0]?.id ?? '';
  const update = (url: string) =>
    as(site.owner).call(logDestinations.update, { params, body: { id, kind: 'http', name: 'new', url } });
  for (const url of ['http://127.0.0.1:9/a', `${server.url}/b`])
    await expect(update(url)).rejects.toMatchObject({
      envelope: { errorData: [{ path: 'secret', rule: 'required' }] },
    });
  await update(`${server.url}/a?b`);
  await send('/x');
  await pushAll();
  expect(server.received).toMatchObject([{ url: '/a?b', headers: { authorization: 'Bearer token-1' } }]);
  const stored = await db.logDestination.findUniqueOrThrow({ where: { id } });
  expect(JSON.stringify(stored.settings)).not.toContain('token-1');
  expect(stored.secretsSealed).toMatch(/^s1\./);
});

test('what happens while a destination is off is not delivered', async () => {
  const server = await httpServer();
  const { site, params, made, send, states } = await siteWith(http(server.url));
  const enable = (enabled: boolean) =>
    as(site.owner).call(logDestinations.enable, { params, body: { ids: [made[0]?.id ?? ''], enabled } });
  await enable(false);
  await send('/off');
  await enable(true);
  await send('/on');
  await pushAll();
  expect(urisOf(server.received.map(({ body }) => body))).toEqual(['/on']);
  expect(await states()).toMatchObject([{ sentLines: 1, droppedLines: 0 }]);
});

test('a syslog server that accepts some bytes now and then ends at the deadline, or when the process stops', async () => {
  const server = createTcp((socket) => {
    socket.pause().on('error', () => undefined);
    const timer = setInterval(() => socket.read(1000), 20);
    socket.once('close', () => clearInterval(timer));
  });
  const target = { host: '127.0.0.1', port: await listening(server), tls: false, ca: '' };
  const messages = Buffer.alloc(32 * 1024 * 1024);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const slow = sendSyslog(installation.env, target, messages, new AbortController().signal);
  vi.advanceTimersByTime(30_000);
  vi.useRealTimers();
  await expect(slow).rejects.toThrow('timeout');
  const stopping = new AbortController();
  const stopped = sendSyslog(installation.env, target, messages, stopping.signal);
  stopping.abort();
  await expect(stopped).rejects.toThrow('stopped');
});

test('a batch that is stored after an empty read is delivered, and not counted as dropped', async () => {
  const server = await httpServer();
  const { send, states } = await siteWith(http(server.url));
  await send('/expired');
  await pool.query('DELETE FROM log_spool');
  const claimed = await claimDestination(pool);
  let isSent = false;
  const query = async (text: string, values: unknown[]) => {
    const result = await pool.query(text, values);
    if (text.includes('JOIN log_spool s') && !isSent) {
      isSent = true;
      await send('/between');
    }
    return result;
  };
  const racing = { ...installation, pool: Object.assign(Object.create(pool), { query }) };
  if (claimed) await runPush(racing, claimed, new AbortController().signal);
  await pushAll();
  expect(urisOf(server.received.map(({ body }) => body))).toEqual(['/between']);
  expect(await states()).toMatchObject([{ sentLines: 1, droppedLines: 1, waitingLines: 0 }]);
});

test('a secret that does not open is shown as the error, and its destination pauses', async () => {
  const server = await httpServer();
  const { site, params, made, send, states } = await siteWith(http(server.url, { secret: 'token-1' }));
  await pool.query(`UPDATE log_destinations SET secrets_sealed = 's1.broken' WHERE id = $1`, [made[0]?.id]);
  await send('/a');
  await pushAll();
  expect(await states()).toMatchObject([{ lastError: 'secret', waitingLines: 1 }]);
  expect(
    (await pool.query('SELECT claimed_by, tries FROM log_destinations WHERE id = $1', [made[0]?.id])).rows,
  ).toEqual([{ claimed_by: null, tries: 1 }]);
  const tested = as(site.owner).call(logDestinations.test, { params: { ...params, destinationID: made[0]?.id ?? '' } });
  expect(await tested).toEqual({ error: 'secret' });
  expect(server.received).toEqual([]);
});

test('the spool of an operator is bounded, oldest first, and other operators keep theirs', async () => {
  const [busy, quiet] = [await siteWith(http('http://127.0.0.1:9/')), await siteWith(http('http://127.0.0.1:9/'))];
  const second = await build.site({ product: busy.site.product });
  const { id: node } = await build.node({ zone: busy.site.zone });
  const params = { siteId: second.id };
  await as(second.owner).call(logDestinations.create, { params, body: http('http://127.0.0.1:9/') });
  for (let i = 0; i < 5; i += 1) {
    await busy.send(`/a${i}`);
    await addLogs(pool, node, [logLine(second.id)]);
  }
  await quiet.send('/kept');
  const waiting = async (id: string) =>
    (await pool.query('SELECT number::int FROM log_spool WHERE site_id = $1 ORDER BY 1', [id])).rows.map(
      ({ number }): number => number,
    );
  const sizes = `UPDATE log_spool SET bytes = $2, stored_at = now() - make_interval(secs => 100 - number) WHERE site_id = $1`;
  const MiB = 1024 ** 2;
  await pool.query(sizes, [busy.site.id, 100 * MiB]);
  await pool.query(sizes, [second.id, 100 * MiB]);
  // Another process sweeps.
  const other = await pool.connect();
  await other.query('SELECT pg_advisory_lock(7305019209)');
  await sweepLogSpool(installation);
  expect(await waiting(busy.site.id)).toEqual([1, 2, 3, 4, 5]);
  await other.query('SELECT pg_advisory_unlock(7305019209)');
  other.release();
  // A site keeps 256 MiB.
  await sweepLogSpool(installation);
  expect([await waiting(busy.site.id), await waiting(second.id)]).toEqual([
    [4, 5],
    [4, 5],
  ]);
  // An operator keeps 1 GiB: three more sites have newer batches.
  await pool.query('UPDATE log_spool SET bytes = $2 WHERE site_id = $1', [busy.site.id, 120 * MiB]);
  await pool.query('UPDATE log_spool SET bytes = $2 WHERE site_id = $1', [second.id, 120 * MiB]);
  for (let i = 0; i < 3; i += 1) {
    const site = await build.site({ product: busy.site.product });
    await pool.query('INSERT INTO log_spool_heads (site_id, number, lines) VALUES ($1, 3, 3)', [site.id]);
    await pool.query(
      `INSERT INTO log_destinations (id, site_id, name, kind, settings, updated_at) VALUES (gen_random_uuid(), $1, '', 'http', '{}', now())`,
      [site.id],
    );
    await pool.query(
      `INSERT INTO log_spool (site_id, number, lines, sum_lines, size, bytes, data)
       SELECT $1, n, 1, n, 1, $2, '' FROM generate_series(1, 2) n`,
      [site.id, 120 * MiB],
    );
  }
  await sweepLogSpool(installation);
  expect([await waiting(busy.site.id), await waiting(second.id)].flat().toSorted()).toEqual([5, 5]);
  expect(await waiting(quiet.site.id)).toEqual([1]);
  await pool.query('DELETE FROM log_destinations');
});

test('slow destinations of one operator leave slots to others', async () => {
  const busy = await siteWith();
  await pool.query(
    `INSERT INTO log_destinations (id, site_id, name, kind, settings, updated_at, claimed_by, claimed_until)
     SELECT gen_random_uuid(), $1, '', 'http', '{}', now(), gen_random_uuid(), now() + interval '1 hour' FROM generate_series(1, 9)`,
    [busy.site.id],
  );
  const next = await siteWith(http('http://127.0.0.1:9/'));
  await pool.query(
    `INSERT INTO log_destinations (id, site_id, name, kind, settings, updated_at)
     SELECT gen_random_uuid(), $1, '', 'http', '{}', now() - interval '1 hour' FROM generate_series(1, 2)`,
    [busy.site.id],
  );
  await pool.query('INSERT INTO log_spool_heads (site_id, number, lines) VALUES ($1, 1, 1)', [busy.site.id]);
  await next.send('/a');
  await allDue();
  const claimed = [await claimDestination(pool), await claimDestination(pool), await claimDestination(pool)];
  const sites = claimed.map((each) => each?.siteId);
  expect(sites.filter((id) => id === busy.site.id)).toHaveLength(1);
  expect(sites).toContain(next.site.id);
  expect(claimed).toContain(null);
  await pool.query('DELETE FROM log_destinations');
});

test('a key in an address is not shown, and stays while the address is sent as it was shown', async () => {
  const server = await httpServer();
  const { site, params, made, send, states } = await siteWith(http(`${server.url}/in?key=s3cret&flag`));
  const id = made[0]?.id ?? '';
  const shown = `${server.url}/in?key=***&***`;
  expect(await states()).toMatchObject([{ target: shown, settings: { url: shown } }]);
  expect(JSON.stringify([made, await states()])).not.toContain('s3cret');
  const update = (url: string) =>
    as(site.owner).call(logDestinations.update, { params, body: { id, kind: 'http', name: 'new', url } });
  await update(shown);
  await send('/x');
  await pushAll();
  expect(server.received.map(({ url }) => url)).toEqual(['/in?key=s3cret&flag']);
  const refused = { status: 400, envelope: { errorData: [{ path: 'url' }] } };
  await expect(update(`${server.url}/other?key=***`)).rejects.toMatchObject(refused);
  await expect(update('http://name:word@127.0.0.1/')).rejects.toMatchObject(refused);
});
