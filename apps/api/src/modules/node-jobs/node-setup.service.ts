import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { findArtifact } from '../../install/artifacts.ts';
import { controlOf, setupScript } from '../../install/pull.ts';
import { findMonitorTarget, findTarget, listeningPorts } from '../../install/target.ts';
import { holderOf } from '../../install/token-holder.ts';
import { natsServersOf } from '../../node-link/join.ts';

interface Machine {
  system: string;
  version: string;
  arch: string;
  node: string;
}

/** A used token stays valid on the machine that used it, so the command can be run there again. */
export async function setup(ctx: Ctx, { system: id, version, arch, node: present }: Machine): Promise<string> {
  const { token, nodeId, isUsed } = await holder(ctx);
  if (isUsed && present !== nodeId) fail('INVALID_TOKEN');
  const { installation } = ctx;
  const { pool } = installation;
  const target = (await findTarget(pool, nodeId)) ?? (await findMonitorTarget(pool, nodeId)) ?? fail('INVALID_TOKEN');
  return setupScript({ installation, target, system: { id, version, arch }, present, token, now: ctx.now() });
}

export async function artifact(ctx: Ctx, name: string): Promise<AsyncIterable<Uint8Array>> {
  await holder(ctx);
  return (await findArtifact(name, ctx.installation.env)) ?? fail('NOT_FOUND');
}

const holder = ({ caller, installation, now }: Ctx) =>
  holderOf(installation, caller.bearer ?? fail('INVALID_TOKEN'), now());

/** Data for installing a node by other means, such as an image or a configuration manager. */
export async function info({ db, installation }: Ctx, nodeID: string | undefined): Promise<string> {
  const { env, pool } = installation;
  const control = controlOf(env);
  const lines = {
    control,
    install: `${control}/api/v1/node/install.sh`,
    nats: natsServersOf(env).join(','),
    systems: 'rocky-9,centos-7,debian-12',
  };
  const ofNode = nodeID === undefined ? {} : await linesOf(db, pool, nodeID);
  return Object.entries({ ...lines, ...ofNode })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

async function linesOf(db: Ctx['db'], pool: Ctx['installation']['pool'], id: string) {
  const node = await db.edgeNode.findUnique({ where: { id }, select: { ip: true, zoneId: true, joinedAt: true } });
  if (!node) fail('NOT_FOUND');
  const ports = listeningPorts((await findTarget(pool, id)) ?? fail('NOT_FOUND')).join(',');
  return { nodeID: id, zoneID: node.zoneId, ip: node.ip, ports, joined: node.joinedAt !== null };
}
