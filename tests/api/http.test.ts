// Properties of every response, tested with plain fetch.
import { connect as dial } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { metricFaults, metricTypes, monitoredMetrics } from '../support/assertions/metric-rules.ts';
import { attentionItems } from '../support/builders/attention-items.ts';
import { testApp } from '../support/services/app.ts';

const app = await testApp({ METRICS_TOKEN: 'a-token-for-metrics', BODY_LIMIT: '4096' });
afterAll(() => app.close());

const at = (path: string, init?: RequestInit) => fetch(`${app.url}${path}`, { redirect: 'manual', ...init });
const json = (body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
async function refusal(call: Promise<Response>) {
  const answer = await call;
  const body: unknown = await answer.json();
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(body).toMatchObject({ isError: true, reqID: answer.headers.get('x-request-id') });
  return { status: answer.status, body };
}

describe('every failed call returns the error envelope', () => {
  test('for an unknown path', async () => {
    for (const path of [
      '/api/v1',
      '/api/v1/',
      '/api/v1/nope',
      '/api/v1/client/zones/',
      '/api/v1/client/%00',
      '/api/v1/%zz',
    ])
      expect(await refusal(at(path)), path).toMatchObject({ status: 404, body: { code: 101_004 } });
    for (const method of ['HEAD', 'OPTIONS', 'PUT', 'PATCH'])
      expect((await at('/api/v1/health', { method })).status, method).toBe(404);
  });

  test('for a body that is not JSON, too large, or of another type', async () => {
    const at1 = '/api/v1/user/login';
    expect(await refusal(at(at1, json('{"email":')))).toMatchObject({ status: 400, body: { code: 101_003 } });
    expect(await refusal(at(at1, json('{"__proto__":{"x":1}}')))).toMatchObject({
      status: 400,
      body: { code: 101_003 },
    });
    expect(await refusal(at(at1, json({ email: 'x'.repeat(5000) })))).toMatchObject({
      status: 413,
      body: { code: 101_003, errorData: [{ rule: 'size' }] },
    });
    const xml = { method: 'POST', headers: { 'content-type': 'application/xml' }, body: '<a/>' };
    expect(await refusal(at(at1, xml))).toMatchObject({
      status: 415,
      body: { code: 101_003, errorData: [{ rule: 'contentType' }] },
    });
    expect(await refusal(at(at1, { method: 'POST' }))).toMatchObject({
      status: 400,
      body: { errorData: [{ path: 'email' }, { path: 'password' }] },
    });
  });

  test('for bytes that are not HTTP', async () => {
    const { port } = new URL(app.url);
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = dial(Number(port), '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'));
      socket
        .on('data', (chunk) => (text += chunk.toString()))
        .on('end', () => resolve(text))
        .on('error', reject);
    });
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 400 /);
    expect(head).toContain("content-security-policy: default-src 'none'; frame-ancestors 'none'");
    expect(JSON.parse(body)).toMatchObject({
      isError: true,
      code: 101_003,
      reqID: /X-Request-Id: (\S+)/.exec(head)?.[1],
    });
  });

  test('for a crashing handler, without details of the crash', async () => {
    const { client } = await app.build.zone();
    await app.installation.pool.query('ALTER TABLE products RENAME TO hidden');
    try {
      const answer = await refusal(
        at('/api/v1/client/products', { headers: { authorization: `Bearer ${client.token}` } }),
      );
      expect(answer).toMatchObject({ status: 500, body: { code: 101_002, message: 'Unknown Error' } });
      expect(JSON.stringify(answer.body)).not.toMatch(/products|prisma|select|at .*\.ts/i);
    } finally {
      await app.installation.pool.query('ALTER TABLE hidden RENAME TO products');
    }
  });
});

test('an unknown or mistyped query parameter is named', async () => {
  const { client } = await app.build.zone();
  const headers = { authorization: `Bearer ${client.token}` };
  const answer = await refusal(at('/api/v1/client/zones?pagesize=5&page=0&sortBy=id&pageSize=501&page=2', { headers }));
  expect(answer).toMatchObject({ status: 400, body: { code: 101_003 } });
  expect(answer.body).toHaveProperty(
    'errorData',
    expect.arrayContaining([
      expect.objectContaining({ path: 'pagesize', rule: 'unknown' }),
      expect.objectContaining({ path: 'sortBy', rule: 'choice' }),
      expect.objectContaining({ path: 'pageSize', rule: 'range' }),
      expect.objectContaining({ path: 'page', rule: 'type' }),
    ]),
  );
});

test.each([
  '/api/v1/health',
  '/api/v1/none',
  // Rejected before our code runs.
  '/api/v1/%zz',
  '/%zz',
])('the response to %s is not cacheable, frameable or sniffable, and not readable cross-origin', async (path) => {
  const { headers } = await at(path, { headers: { origin: 'https://evil.example' } });
  expect(Object.fromEntries(headers)).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  expect(headers.has('access-control-allow-origin')).toBe(false);
});

test('a request id of the client is ignored', async () => {
  const { headers } = await at('/api/v1/health', { headers: { 'x-request-id': 'mine' } });
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
});

test('a client cannot spoof its address', async () => {
  const { client } = await app.build.client();
  const headers = {
    authorization: `Bearer ${client.token}`,
    'content-type': 'application/json',
    'x-forwarded-for': '203.0.113.7',
  };
  await at('/api/v1/client/zone', { method: 'POST', headers, body: '{}' });
  const rows = await app.installation.db.auditRow.findMany({ where: { accountId: client.id } });
  expect(rows).toMatchObject([{ address: '127.0.0.1', status: 400 }]);
});

describe('on the public listener the admin console is missing', () => {
  test.each([
    '/admin',
    '/admin/',
    '/admin/dashboard',
    '/ADMIN/x',
    '/%61dmin/x',
    '/user/admin/x',
    '/a//admin//',
    '/user/..%2fadmin/',
  ])('%s is the 404 page', async (path) => {
    const answer = await at(path);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
  });

  test('and so are its calls, which the admin listener serves', async () => {
    expect(await refusal(at('/api/v1/admin/login', json({})))).toMatchObject({ status: 404, body: { code: 101_004 } });
    expect(await refusal(fetch(`${app.adminUrl}/api/v1/admin/login`, json({})))).toMatchObject({ status: 400 });
    expect(await refusal(fetch(`${app.adminUrl}/api/v1/client/login`, json({})))).toMatchObject({ status: 404 });
  });
});

describe('the system endpoints', () => {
  test('report health', async () => {
    expect(await (await at('/api/v1/health')).json()).toMatchObject({
      status: 'ok',
      checks: { postgres: { ok: true } },
    });
  });

  const readMetrics = (token: string) => at('/api/v1/metrics', { headers: { authorization: `Bearer ${token}` } });

  test('return metrics with the token', async () => {
    // Files of one worker share the counters.
    const refusals = (text: string) =>
      Number(
        /duration_seconds_count\{method="GET",route="\/api\/v1\/metrics",status="4xx"\} (\d+)/.exec(text)?.[1] ?? 0,
      );
    const before = refusals(await (await readMetrics('a-token-for-metrics')).text());
    expect(await refusal(at('/api/v1/metrics'))).toMatchObject({ status: 401, body: { code: 101_013 } });
    expect(await refusal(readMetrics('another-token-metrics'))).toMatchObject({ status: 401, body: { code: 101_013 } });
    const answer = await readMetrics('a-token-for-metrics');
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
    // A call is counted after its response, and a slow database leaves values out.
    await eventually(async () => {
      const text = await (await readMetrics('a-token-for-metrics')).text();
      expect(refusals(text) - before).toBe(2);
      expect(text).toMatch(/^edgeloom_api_database_connections_max\{pool="api"\} [1-9]/m);
      expect(text).toContain('edgeloom_api_nodes{status="offline"} 0');
      expect(text).toContain('edgeloom_api_queue_due{queue="node_jobs"} 0');
    });
  });

  test('have metrics by the rules of Prometheus, and each metric of the dashboard and the alerts', async () => {
    const text = await (await readMetrics('a-token-for-metrics')).text();
    expect(metricFaults(text)).toEqual([]);
    const names = monitoredMetrics(/^(?!edgeloom_agent_)/);
    expect(names.length).toBeGreaterThan(20);
    expect([...metricTypes(text).keys()]).toEqual(expect.arrayContaining(names));
  });

  test('have metrics of the installation', async () => {
    const { build, installation } = app;
    const site = await build.site();
    const names = await attentionItems(build, installation, site);
    const { id: nodeId } = await installation.db.edgeNode.findFirstOrThrow({ where: { name: names.nodesBehind } });
    await installation.db.logPosition.create({ data: { nodeId, file: '1-1' } });
    await installation.db.nodeJob.create({
      data: { nodeId, kind: 'install', createdBy: 'someone', dueAt: new Date(Date.now() - 3_600_000) },
    });
    const text = await (await readMetrics('a-token-for-metrics')).text();
    const values = new Map(
      Array.from(text.matchAll(/^edgeloom_api_(\S+) (\S+)$/gm), ([, name, value]) => [name, Number(value)]),
    );
    const expected = {
      'nodes{status="online"}': 5,
      'nodes{status="offline"}': 2,
      'nodes{status="disabled"}': 0,
      nodes_rejecting: 1,
      nodes_without_logs: 4,
      documents_failing: 1,
      certificates_expiring: 1,
      'queue_due{queue="node_jobs"}': 1,
      'queue_due{queue="certificate_orders"}': 0,
      'queue_delay_seconds{queue="certificate_orders"}': 0,
    };
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, values.get(name)]))).toEqual(expected);
    expect(values.get('queue_delay_seconds{queue="node_jobs"}')).toBeGreaterThanOrEqual(3600);
  });

  test('return the OpenAPI document', async () => {
    expect(await (await at('/api/v1/openapi.json')).json()).toMatchObject({
      openapi: '3.1.0',
      paths: { '/client/zones': { get: { operationId: 'client.zones.list' } } },
    });
  });
});
