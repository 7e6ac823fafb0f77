// The built consoles as files: hashed assets for ever, the three front doors always fresh, and a policy under which
// only our own scripts run.
import { existsSync } from 'node:fs';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Family } from '@edgeloom/contract/endpoint.ts';

const YEAR_SECONDS = 365 * 24 * 3600;

// Styles: the component library writes its theme's variables and positions into style elements at run time.
const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
} as const;

const notFoundPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>404</title><h1>404</h1><p>There is no such page.</p><p><a href="/">Back to the start</a></p></html>
`;

export const answerNotFoundPage = (reply: FastifyReply) =>
  reply.status(404).type('text/html; charset=utf-8').header('cache-control', 'no-store').send(notFoundPage);

/** The part of a path that decides, as a server behind us would read it: decoded, without case. */
export function leadsToAdmin(url: string): boolean {
  const [raw = ''] = url.split('?', 1);
  let text = raw;
  try {
    text = decodeURIComponent(raw);
  } catch {
    // Badly encoded: looked at as it is.
  }
  return /(?:^|[/\\])admin(?:[/\\]|$)/i.test(text);
}

export async function serveConsole(app: FastifyInstance, dir: string, doors: readonly Family[]) {
  const root = path.resolve(dir);
  const [home = 'user'] = doors;
  /** A front door of its own where the build makes one, else the one page for all. */
  const pageOf = (door: Family) =>
    existsSync(path.join(root, door, 'index.html')) ? `${door}/index.html` : 'index.html';

  await app.register(fastifyStatic, {
    root,
    wildcard: false,
    index: false,
    redirect: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, file) => {
      const isHashed = /[.-][\w-]{8,}\.(?:js|css|woff2?|svg|png|webp|json)(?:\.br|\.gz)?$/.test(file);
      reply.header('cache-control', isHashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache');
      reply.header('content-security-policy', consolePolicy);
    },
  });

  app.get('/', (_, reply) => reply.redirect(`/${home}/`));
  for (const door of doors) {
    app.get(`/${door}`, (_, reply) => reply.redirect(`/${door}/`));
    // Every screen has an address of its own, and all of them are this page.
    app.get(`/${door}/*`, (_, reply) => reply.sendFile(pageOf(door)));
  }
}
