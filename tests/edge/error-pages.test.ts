import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { defaultErrorPagesDoc, errorPageDocs } from '@edgeloom/api/compile/error-pages.ts';
import { PROBE_NAME } from '@edgeloom/api/install/scripts.ts';
import { DefaultErrorPageInput } from '@edgeloom/contract/default-error-pages/default-error-pages.ts';
import { ErrorPageInput } from '@edgeloom/contract/error-pages/error-pages.ts';
import { isLongRun } from '../support/builders/long-run.ts';
import { rule, startEdge, upstream } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { freePorts } from '../support/services/ports.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

const pages = (...rows: { code: number; type: string; value: string; edgeOnly?: boolean }[]) =>
  errorPageDocs(rows.map((row) => ErrorPageInput.parse(row)));
const [nobody = 0] = await freePorts(1);
const silent = { origin: { upstreams: [upstream(nobody)] } };
const html = (text: string) => `<!doctype html><title>${text}</title><h1>${text}</h1>`;

test("a page replaces the edge's own errors, keeps the status, and is not cacheable", async () => {
  const { name } = await edge.site(
    {
      ...pages({ code: 403, type: 'content', value: html('no') }, { code: 502, type: 'content', value: html('later') }),
    },
    {
      ...silent,
      antiHeaders: [{ id: randomUUID(), name: 'x-robot', operator: 'exists', value: '', action: 'deny' as const }],
    },
  );
  const refused = await edge.get('/', { host: name, headers: { 'x-robot': '1' } });
  const failed = await edge.get('/', { host: name, method: 'POST' });
  expect([refused.status, refused.body, failed.status, failed.body]).toEqual([403, html('no'), 502, html('later')]);
  for (const answer of [refused, failed]) {
    expect(answer.header('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.header('cache-control')).toBe('no-store');
    expect(answer.header('content-security-policy')).toContain("default-src 'none'");
  }
});

test("a name that does not serve a port shows its site's page", async () => {
  const [other = 0] = await freePorts(1);
  const { name } = await edge.site({ ports: [other], ...pages({ code: 903, type: 'content', value: html('gone') }) });
  const answer = await edge.get('/', { host: name });
  expect([answer.status, answer.body]).toEqual([903, html('gone')]);
});

describe("an origin's error", () => {
  const body = 'x'.repeat(300_000);
  for (const status of [400, 403, 500, 502, 504, 404])
    edge.origin.on(`/${status}`, {
      status,
      headers: {
        'content-type': 'text/plain',
        'content-disposition': 'attachment',
        'content-security-policy': 'sandbox',
        'cache-control': 'max-age=600',
        etag: '"e"',
        'set-cookie': 'a=1',
      },
      body,
    });

  test('is replaced for GET and HEAD, and the page is not stored', async () => {
    const codes = [400, 403, 500, 502, 504];
    const { site, name } = await edge.site({
      cacheRules: [rule()],
      ...pages(...codes.map((code) => ({ code, type: 'content', value: html(`sorry ${code}`) }))),
    });
    for (const code of codes) {
      for (let i = 0; i < 2; i += 1) {
        const answer = await edge.get(`/${code}`, { host: name });
        expect([answer.status, answer.body]).toEqual([code, html(`sorry ${code}`)]);
        expect(answer.header('content-type')).toBe('text/html; charset=utf-8');
        expect(answer.header('cache-control')).toBe('no-store');
        expect(answer.header('content-security-policy')).toContain("style-src 'unsafe-inline'");
        for (const gone of ['etag', 'content-disposition', 'age']) expect(answer.header(gone)).toBeUndefined();
        expect(answer.header('set-cookie')).toBe('a=1');
      }
      const head = await edge.get(`/${code}`, { host: name, method: 'HEAD' });
      expect([head.status, head.body, head.header('content-length')]).toEqual([
        code,
        '',
        String(html(`sorry ${code}`).length),
      ]);
      // POST responses keep the origin's body, because programs read them.
      expect((await edge.get(`/${code}`, { host: name, method: 'POST' })).body).toBe(body);
    }
    expect((await edge.get('/404', { host: name })).body).toBe(body);
    const { errorPages, ...bare } = site;
    expect(errorPages).toHaveLength(5);
    await edge.put(bare);
    expect((await edge.get('/403', { host: name })).body).toBe(body);
  });

  const sorry = { code: 500, type: 'content', value: html('sorry') };
  const json = '{"error":"out of stock"}';

  test.each(['application/json', 'Application/Problem+JSON; charset=utf-8', 'text/json'])(
    'stays if its type is %s, also in place of a redirect',
    async (type) => {
      edge.origin.on('/api', { status: 500, headers: { 'content-type': type }, body: json });
      for (const page of [sorry, { code: 500, type: 'redirect', value: 'https://www.example.com/sorry' }]) {
        const { name } = await edge.site(pages(page));
        const answer = await edge.get('/api', { host: name });
        expect([answer.status, answer.header('content-type'), answer.body]).toEqual([500, type, json]);
      }
    },
  );

  test.each(['text/html', 'application/jsonp', 'text/plain; type="application/json"'])(
    'is replaced if its type is %s',
    async (type) => {
      edge.origin.on('/page', { status: 500, headers: { 'content-type': type }, body: json });
      const { name } = await edge.site(pages(sorry));
      expect((await edge.get('/page', { host: name })).body).toBe(html('sorry'));
    },
  );

  test('stays for a request that accepts JSON and no HTML, and is not stored for other visitors', async () => {
    const headers = { 'content-type': 'text/plain', 'cache-control': 'max-age=600' };
    edge.origin.on('/asked', { status: 500, headers, body: 'broken' });
    const { name } = await edge.site({ cacheRules: [rule({ honourOrigin: true })], ...pages(sorry) });
    const bodyFor = async (accept: string) => (await edge.get('/asked', { host: name, headers: { accept } })).body;
    for (const accept of ['application/json', 'application/json, text/plain, */*', 'application/vnd.api+json'])
      expect(await bodyFor(accept)).toBe('broken');
    for (const accept of ['*/*', 'text/html, application/json;q=0.5', ''])
      expect(await bodyFor(accept)).toBe(html('sorry'));
  });

  test("stays if the page is only for the edge's errors", async () => {
    edge.origin.on('/own', { status: 502, headers: { 'content-type': 'text/html' }, body: 'from the origin' });
    const page = { code: 502, type: 'content', value: html('later'), edgeOnly: true };
    const reachable = await edge.site(pages(page));
    expect((await edge.get('/own', { host: reachable.name })).body).toBe('from the origin');
    const unreachable = await edge.site(pages(page), silent);
    const asked = { host: unreachable.name, headers: { accept: 'application/json' } };
    expect((await edge.get('/own', asked)).body).toBe(html('later'));
  });

  test('is not replaced if a stale response is allowed', async () => {
    const { name } = await edge.site({
      staleIfError: 600,
      ...pages({ code: 500, type: 'content', value: html('later') }),
    });
    edge.origin.on('/stale', { headers: { 'cache-control': 'max-age=1' }, body: 'old' });
    // A response that takes until the next second has used up max-age=1.
    await eventually(async () => expect((await edge.get('/stale', { host: name })).cache).toBe('hit'));
    edge.origin.on('/stale', { status: 500, body: 'broken' });
    await eventually(async () => {
      const answer = await edge.get('/stale', { host: name });
      expect(answer.body).toBe('old');
      expect(answer.header('cache-status')).toContain('stale-if-error');
    });
  });
});

test('a redirect goes to its target, and not from its target to itself', async () => {
  const name = 'sorry.example.com';
  const target = `http://${name}/sorry%20page?from=edge`;
  await edge.site({ ...pages({ code: 502, type: 'redirect', value: target }) }, { name, ...silent });
  const sent = await edge.get('/x', { host: name });
  expect([sent.status, sent.header('location'), sent.body, sent.header('cache-control')]).toEqual([
    302,
    target,
    '',
    'no-store',
  ]);
  expect(sent.header('content-type')).toBe('text/html; charset=utf-8');
  expect((await edge.get('/sorry%20page?again', { host: name })).status).toBe(502);
});

test('a page may have script, without our CSP', async () => {
  const value = 'document.title = "later"; if (1 < 2) document.write("<b>x</b>")';
  const { name } = await edge.site({ ...pages({ code: 504, type: 'javascript', value }) }, silent);
  edge.origin.on('/slow', { status: 504, body: '' });
  const { site, host } = await edge.site({ ...pages({ code: 504, type: 'javascript', value }) });
  expect(site.errorPages).toHaveLength(1);
  const answer = await edge.get('/slow', { host: host.name });
  expect(answer.body).toContain(`<script>${value}</script>`);
  expect(answer.header('content-security-policy')).toBeUndefined();
  expect((await edge.get('/', { host: name })).status).toBe(502);
});

test('no text breaks the document, the headers or the length of the response', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }),
    fc.constantFrom('"}{"', '%00', '\r\nX-Evil: 1', '$host', '\u2028', '</script><script>', '%1%z'),
  );
  const { site, host } = await edge.site({}, silent);
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('content', 'javascript', 'redirect'),
      fc.oneof(
        text,
        text.map((part) => `https://a.example/${encodeURI(part.toWellFormed())}`),
      ),
      async (type, value) => {
        const page = ErrorPageInput.safeParse({ code: 502, type, value });
        if (!page.success) return;
        taken += 1;
        await edge.put({ ...site, ...errorPageDocs([page.data]) });
        const answer = await edge.get('/', { host: host.name });
        expect(answer.header('x-evil')).toBeUndefined();
        expect(type === 'redirect' ? answer.header('location') : answer.body).toContain(page.data.value);
      },
    ),
    { numRuns: isLongRun ? 150 : 40, seed: 1 },
  );
  expect(taken).toBeGreaterThan(isLongRun ? 30 : 8);
});

describe("the operator's pages", async () => {
  const own = await startEdge();
  afterAll(() => own.stop());
  const publish = async (...rows: { code: number; type: string; value: string; edgeOnly?: boolean }[]) => {
    const doc = defaultErrorPagesDoc(rows.map((row) => DefaultErrorPageInput.parse(row)));
    await (doc ? own.put(doc) : own.remove('errorPages'));
  };
  const content = (code: number, value = html(`operator ${code}`)) => ({ code, type: 'content', value });
  const shown = async (host: string, path = '/') => {
    const { status, body } = await own.get(path, { host });
    return [status, body];
  };

  test("are shown for a site without its own page, and change without a site's document", async () => {
    await publish(content(502), content(904));
    const { name } = await own.site({}, silent);
    const { name: dressed } = await own.site(pages(content(502, html('own'))), silent);
    const { name: paused } = await own.site({ status: 'pause', ...pages(content(502, html('own'))) });
    expect(await shown(name)).toEqual([502, html('operator 502')]);
    expect(await shown(dressed)).toEqual([502, html('own')]);
    expect(await shown(paused)).toEqual([904, html('operator 904')]);
    await publish(content(502, html('changed')));
    expect(await shown(name)).toEqual([502, html('changed')]);
    expect((await own.get('/', { host: paused })).body).toContain('Site Out Of Service');
  });

  test('are shown for a name that no site has, by page, redirect and script', async () => {
    await publish(content(903));
    expect(await shown('unknown.example.com')).toEqual([903, html('operator 903')]);
    await publish({ code: 903, type: 'redirect', value: 'http://home.example.com/unknown' });
    const sent = await own.get('/', { host: 'unknown.example.com' });
    expect([sent.status, sent.header('location')]).toEqual([302, 'http://home.example.com/unknown']);
    expect((await own.get('/unknown', { host: 'home.example.com' })).status).toBe(903);
    await publish({ code: 903, type: 'javascript', value: 'location = "/"' });
    expect((await own.get('/', { host: 'unknown.example.com' })).body).toContain('<script>location = "/"</script>');
  });

  test('leave the request by which an installation looks for its node unchanged', async () => {
    await publish({ code: 903, type: 'redirect', value: 'https://home.example.com/unknown' });
    for (const host of [PROBE_NAME, PROBE_NAME.toUpperCase()]) expect((await own.get('/', { host })).status).toBe(903);
  });

  test('are gone once the operator has removed them', async () => {
    await publish(content(903), content(502));
    const { name } = await own.site({}, silent);
    await publish();
    expect((await own.get('/', { host: 'unknown.example.com' })).body).not.toContain('operator 903');
    expect((await own.get('/', { host: name })).body).not.toContain('operator 502');
  });

  test('are shown for a request that nginx refuses before its site is known', async () => {
    await publish(content(400));
    expect(await own.raw('GET / HTTP/1.1\r\n\r\n')).toContain(html('operator 400'));
  });

  test("leave an origin's error, unless they replace it too", async () => {
    own.origin.on('/broken', { status: 500, headers: { 'content-type': 'text/html' }, body: 'from the origin' });
    const { name } = await own.site();
    await publish({ ...content(500), edgeOnly: true });
    expect(await shown(name, '/broken')).toEqual([500, 'from the origin']);
    await publish({ ...content(500), edgeOnly: false });
    expect(await shown(name, '/broken')).toEqual([500, html('operator 500')]);
  });
});
