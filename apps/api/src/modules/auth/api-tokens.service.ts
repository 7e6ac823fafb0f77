// API tokens. core/auth/identities.ts authenticates calls that use one.
import type { ApiTokenInput } from '@edgeloom/contract/auth/api-tokens.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { pageOf } from '../../core/page.ts';
import { apiTokens, sha256 } from '../../core/auth/tokens.ts';
import { assertWithin, readable } from '../roles/roles.service.ts';

const TOKENS_AT_MOST = 50;

const select = {
  id: true,
  name: true,
  permissions: true,
  cidrs: true,
  expiresAt: true,
  lastUsedAt: true,
  createdAt: true,
};

export async function list({ db }: Ctx, paging: Paging<'createdAt' | 'name' | 'lastUsedAt' | 'expiresAt'>) {
  const [data, total] = await Promise.all([db.apiToken.findMany({ select, ...pageOf(paging) }), db.apiToken.count()]);
  return { data, total };
}

export async function create(
  { actor, now, installation }: Ctx,
  { name, permissions, expiresAt, cidrs }: ApiTokenInput,
) {
  assertWithin(actor, permissions);
  if (expiresAt !== null && expiresAt <= now()) failAt('expiresAt', 'past', 'must lie ahead');
  const refreshToken = apiTokens(installation.secrets).issue();
  return installation.db.$transaction(async (tx) => {
    // Locks the account, so that two concurrent calls cannot both create the last allowed token.
    await tx.$executeRaw`SELECT 1 FROM accounts WHERE id = ${actor.id}::uuid FOR UPDATE`;
    const count = await tx.apiToken.count({ where: { accountId: actor.id } });
    if (count >= TOKENS_AT_MOST) fail('LIMIT_REACHED', { extra: { limit: TOKENS_AT_MOST } });
    const data = {
      name,
      cidrs,
      expiresAt,
      accountId: actor.id,
      permissions: readable(actor, permissions),
      tokenHash: sha256(refreshToken),
    };
    const { id } = await tx.apiToken.create({ data, select: { id: true } });
    return { id, refreshToken };
  });
}

/** Sessions that were opened with these tokens end too. */
export const remove = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.apiToken.deleteMany({ where: { id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });
