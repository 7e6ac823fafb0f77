// A small web site for the demo's edge with cacheable, uncacheable and slow pages.
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';

const [host = '127.0.0.1', port = '9000'] = process.argv.slice(2);
const startedAt = new Date();
let requests = 0;

const page = () => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Edgeloom demo origin</title><link rel="stylesheet" href="/assets/site.css"></head>
<body>
  <h1>Hello from the origin</h1>
  <p>It made this page at <time>${new Date().toISOString()}</time>, as its request number ${requests}
  since ${startedAt.toISOString()}. Ask again: the time stands still as long as the edge answers from its cache.</p>
  <ul>
    <li><a href="/assets/site.css">/assets/site.css</a> may be kept for an hour</li>
    <li><a href="/now">/now</a> may not be kept</li>
    <li><a href="/slow">/slow</a> takes a second to make, and may be kept for ten</li>
  </ul>
  <img src="/assets/loom.svg" alt="" width="120" height="120">
</body>
</html>
`;

const css = 'body { font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; color: #1d2b36; }\n';
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 12 12" stroke="#0b7285"><path d="M1 2h10M1 5h10M1 8h10M3 0v12M6 0v12M9 0v12"/></svg>\n';

const server = createServer((request, response) => {
  requests += 1;
  const { pathname } = new URL(request.url ?? '/', 'http://origin');
  if (pathname === '/slow') return void answerSlowly(response);
  if (pathname === '/') return send(response, 'text/html; charset=utf-8', 'public, max-age=60', page());
  if (pathname === '/assets/site.css') return send(response, 'text/css', 'public, max-age=3600', css);
  if (pathname === '/assets/loom.svg') return send(response, 'image/svg+xml', 'public, max-age=3600', svg);
  if (pathname === '/broken') return send(response, 'text/plain', 'no-store', 'This page always fails.\n', 503);
  if (pathname === '/now') return send(response, 'text/plain', 'no-store', `${new Date().toISOString()}\n`);
  return send(response, 'text/plain', 'public, max-age=10', 'There is no such page at the origin.\n', 404);
});

async function answerSlowly(response: ServerResponse) {
  await setTimeout(1000);
  send(response, 'text/plain', 'public, max-age=10', `Slowly made at ${new Date().toISOString()}\n`);
}

function send(response: ServerResponse, type: string, caching: string, body: string, status = 200) {
  response.writeHead(status, {
    'content-type': type,
    'cache-control': caching,
    'content-length': Buffer.byteLength(body),
  });
  // Node omits the body in responses to HEAD.
  response.end(body);
}

server.listen(Number(port), host);
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
  });
}
