// Serves the built consoles. Hashed assets are cached permanently, the three start pages never. A content security
// policy allows only our own scripts.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ShownBranding } from '@edgeloom/contract/branding/branding.ts';
import type { Family } from '@edgeloom/contract/family.ts';

/** One page for all consoles: the first part of the path selects one. */
const PAGE = 'index.html';
const YEAR_SECONDS = 365 * 24 * 3600;

// No inline code and nothing from other hosts: the build extracts styles into files, and React sets the others by
// script.
const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** For JSON responses: a browser must not show, frame or store them. */
export const apiHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
} as const;

export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
} as const;

const pageHeaders = {
  'cache-control': 'no-cache',
  'content-security-policy': consolePolicy,
  vary: 'accept-encoding',
} as const;

const notFoundPage = (more: string) => `<!doctype html>
<html lang="en"><meta charset="utf-8">${more}<title>404</title><h1>404</h1><p>There is no such page.</p><p><a href="/">Back to the start</a></p></html>
`;

/** A plain page, so that no console code runs at this address; if the console is built, it shows its own 404. */
export const answerNotFoundPage = (reply: FastifyReply, hasConsole: boolean) =>
  reply
    .status(404)
    .type('text/html; charset=utf-8')
    .headers({ 'cache-control': 'no-store', 'content-security-policy': consolePolicy })
    .send(notFoundPage(hasConsole ? '<meta http-equiv="refresh" content="0;url=/404">' : ''));

const adminPart = /(?:^|[/\\])admin(?:[/\\]|$)/i;

/** Compares the path as a server behind a proxy would read it: decoded and in lower case. */
export function leadsToAdmin(url: string): boolean {
  const [raw = ''] = url.split('?', 1);
  let text = raw;
  if (!raw.includes('%')) return adminPart.test(raw);
  try {
    text = decodeURIComponent(raw);
  } catch {
    // Invalid encoding: compares the raw path.
  }
  return adminPart.test(text);
}

/** True when a browser opens an address as a page: unknown pages get the start page, missing scripts a 404. */
export const opensPage = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && headers.accept?.includes('text/html') === true && !/^\/(?:api|assets|branding)\//.test(url);

export async function serveConsole(
  app: FastifyInstance,
  dir: string,
  doors: readonly Family[],
  lookAt: ((host: string) => Promise<ShownBranding | null>) | null,
) {
  const [home = 'user'] = doors;
  const page = await readFile(path.join(dir, PAGE), 'utf8');
  const answerPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const look = await lookAt?.(request.hostname.toLowerCase());
    if (!look) return reply.sendFile(PAGE);
    return reply.type('text/html; charset=utf-8').headers(pageHeaders).send(dressed(page, look));
  };
  await app.register(fastifyStatic, {
    root: path.resolve(dir),
    wildcard: false,
    index: false,
    redirect: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, file) => {
      const isHashed = file.includes(`${path.sep}assets${path.sep}`);
      reply.headers({
        ...pageHeaders,
        ...(isHashed && { 'cache-control': `public, max-age=${YEAR_SECONDS}, immutable` }),
      });
    },
  });

  app.get('/', (_, reply) => reply.redirect(`/${home}/`));
  app.get('/404', (request, reply) => answerPage(request, reply.status(404)));
  for (const door of doors) {
    app.get(`/${door}`, (_, reply) => reply.redirect(`/${door}/`));
    // Every screen has its own address, and all of them are served this page.
    app.get(`/${door}/*`, answerPage);
  }
}

/** The page with the client's branding in its HTML, so that it needs no request and does not flash. */
function dressed(page: string, look: ShownBranding): string {
  const { title, favicon } = look;
  const named = title === '' ? page : page.replace(/<title>[^<]*<\/title>/, () => `<title>${escaped(title)}</title>`);
  const marked =
    favicon === null
      ? named
      : named.replace(/<link rel="icon"[^>]*>/, () => `<link rel="icon" href="${escaped(favicon)}" />`);
  return marked.replace('</head>', () => `<meta name="branding" content="${escaped(JSON.stringify(look))}" /></head>`);
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
