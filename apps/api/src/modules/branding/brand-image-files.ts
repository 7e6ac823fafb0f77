// Serves operators' pictures publicly. Nothing in these untrusted files may run. They are sanitized before storage,
// sent with nosniff and a sandbox without scripts, and restricted to our own origin.
import type { FastifyInstance } from 'fastify';
import type { PrismaClient } from '../../generated/client.ts';
import { answerNotFoundPage } from '../../http/console.ts';
import type { BrandImageFormat } from './check-image.worker.ts';
import { brandImagePath } from './shown-branding.ts';

const types: Readonly<Record<BrandImageFormat, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  svg: 'image/svg+xml; charset=utf-8',
  ico: 'image/x-icon',
};
const isFormat = (text: string): text is BrandImageFormat => text in types;
const name = /^([0-9a-f]{64})\.([a-z]+)$/;

const headers = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const;

export function serveBrandImages(app: FastifyInstance, db: PrismaClient, hasConsole: boolean) {
  app.get<{ Params: { file: string } }>(`${brandImagePath}/:file`, async ({ params }, reply) => {
    const [, hash = '', format = ''] = name.exec(params.file) ?? [];
    const found = isFormat(format)
      ? await db.brandImage.findFirst({ where: { hash, format }, select: { bytes: true } })
      : null;
    if (!found || !isFormat(format)) return answerNotFoundPage(reply, hasConsole);
    return reply.headers(headers).type(types[format]).send(Buffer.from(found.bytes));
  });
}
