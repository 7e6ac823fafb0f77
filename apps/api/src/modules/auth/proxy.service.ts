// Acting as another account (switch user). core/auth/sessions.ts creates the session. Endpoints declare with `own` what
// it may not do.
import { permissionsOf } from '@edgeloom/contract/permissions.ts';
import { NOBODY, anonymous, type Actor } from '../../core/actor.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { sitesOf, zonesOf } from '../../core/owners.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Sessions } from '../../core/auth/sessions.ts';

const include = { role: true, parent: true } satisfies Prisma.AccountInclude;
type Target = Prisma.AccountGetPayload<{ include: typeof include }>;

export async function start(ctx: Ctx, sessions: Sessions, { accountID }: { accountID: string }) {
  const { actor, caller, installation, now } = ctx;
  const where = { AND: [{ id: accountID, NOT: { id: actor.id } }, within(actor)] };
  const target = await installation.db.account.findFirst({ where, include });
  if (!target) fail('NOT_FOUND');
  const isEnabled = ({ status, expiresAt }: Pick<Target, 'status' | 'expiresAt'>) =>
    status === 'normal' && (expiresAt === null || expiresAt > now());
  const root = target.isRoot ? null : target.parent;
  if (!isEnabled(target) || (root && !isEnabled(root))) fail('ACCOUNT_NOT_ENABLED');
  // A root account has all rights over the accounts within its reach.
  if (!actor.isRoot && !(await mayAllThat(ctx, target))) fail('PERMISSION_DENIED');
  const proxied = await sessions.actAs(actor, target, { address: caller.address, device: caller.device });
  // The public consoles share one origin. Only switching from the admin console leads to another one.
  const base = actor.kind === 'admin' && target.kind !== 'admin' ? installation.env.PUBLIC_URL.replace(/\/$/, '') : '';
  return { ...proxied, url: `${base}/${target.kind}/switchUser?code=${proxied.code}` };
}

/**
 * Accounts within reach: sub-accounts of the actor's root account. An admin also reaches operators, an operator its
 * customers.
 */
function within({ kind, clientId, rootId }: Actor): Prisma.AccountWhereInput {
  const subs = { kind, parentId: rootId, isRoot: false };
  if (kind === 'admin') return { OR: [subs, { kind: 'client' }] };
  if (kind === 'client') return { clientId, OR: [subs, { kind: 'user' }] };
  return { ...subs, clientId };
}

/** Whether the actor has all permissions of the target, and access to all of its sites and zones. */
async function mayAllThat({ actor, installation: { db } }: Ctx, target: Target): Promise<boolean> {
  const own: ReadonlySet<string> = actor.permissions;
  const wanted = target.isRoot ? permissionsOf(target.kind) : (target.role?.permissions ?? []);
  if (wanted.some((permission) => !own.has(permission))) return false;
  const { id, kind, isRoot } = target;
  const other: Actor = { ...anonymous, id, kind, isRoot, clientId: target.clientId ?? NOBODY };
  const [sites, zones] = await Promise.all([
    db.site.count({ where: { AND: [sitesOf(other), { NOT: sitesOf(actor) }] } }),
    db.zone.count({ where: { AND: [zonesOf(other), { NOT: zonesOf(actor) }] } }),
  ]);
  return sites === 0 && zones === 0;
}
