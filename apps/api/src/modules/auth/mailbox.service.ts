// Shows mails of an installation that writes them into a folder. They contain sign-in links, so only its owner may read
// them.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { Mail } from '@edgeloom/contract/auth/auth.ts';
import { Id } from '@edgeloom/contract/common/common.ts';
import type { mailbox } from '@edgeloom/contract/auth/auth.endpoints.ts';
import type { Request } from '@edgeloom/contract/endpoint.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';

function folderOf({ actor, installation: { env } }: Ctx): string {
  if (!actor.isRoot) fail('PERMISSION_DENIED');
  return env.SMTP_URL === undefined && env.MAIL_DIR !== undefined ? env.MAIL_DIR : fail('NOT_FOUND');
}

const Stored = z.object({ to: z.string(), subject: z.string(), text: z.string(), at: Mail.shape.at });

async function read(dir: string, id: string) {
  const text = await readFile(path.join(dir, `${Id.parse(id)}.json`), 'utf8').catch(() => fail('NOT_FOUND'));
  return { id, ...Stored.parse(JSON.parse(text)) };
}

export async function list(ctx: Ctx, { page, pageSize, orderBy }: Request<typeof mailbox.list>['query']) {
  const dir = folderOf(ctx);
  const files = await readdir(dir).catch(() => []);
  // UUIDs of version 7 sort by creation time.
  const ids = files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -5));
  ids.sort((a, b) => (orderBy === 'asc' ? a.localeCompare(b) : b.localeCompare(a)));
  const start = (page - 1) * pageSize;
  return { data: await Promise.all(ids.slice(start, start + pageSize).map((id) => read(dir, id))), total: ids.length };
}

export const get = (ctx: Ctx, id: string) => read(folderOf(ctx), id);
