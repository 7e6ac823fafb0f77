// Creates one row of each kind that the dashboard lists under "Needs attention".
import type { Installation } from '@edgeloom/api/core/installation.ts';
import { CorsInput } from '@edgeloom/contract/modules/cors.ts';
import { unique, type Build, type BuiltSite } from './build.ts';

const HOUR_MS = 3_600_000;

/** One row of each kind, by name, beside a healthy row of the same table. */
export async function attentionItems(build: Build, { db }: Pick<Installation, 'db'>, site: BuiltSite) {
  const longAgo = new Date(Date.now() - HOUR_MS);
  const { zone } = site;
  const name = (what: string) => `${unique(what)}.example.com`;
  const [broken, healthy] = [
    await build.domain({ site, name: name('broken') }),
    await build.domain({ site, name: name('healthy') }),
  ];
  await db.domain.update({ where: { id: broken.id }, data: { cnameStatus: 'inactive' } });
  const failing = await build.certificate(site, [broken.name], {
    name: unique('failing'),
    type: 'automatic',
    status: 'fail',
  });
  const ending = await build.certificate(site, [healthy.name], {
    name: unique('ending'),
    notAfter: new Date(Date.now() + 24 * HOUR_MS),
  });
  await db.domain.update({ where: { id: healthy.id }, data: { certificateId: ending.id } });
  const forced = await build.domain({ site, name: name('forced') });
  await db.domain.updateMany({ where: { id: { in: [forced.id, healthy.id] } }, data: { forceSsl: true } });
  const disabled = await build.domain({ site, name: name('disabled'), enabled: false });
  await db.domain.update({ where: { id: disabled.id }, data: { hstsMaxAgeSeconds: 300 } });
  // A certificate that no domain uses.
  await build.certificate(site, [healthy.name], { name: unique('unused'), notAfter: longAgo });
  const settings = CorsInput.parse({ name: 'any', allowOrigins: ['https://app.example.com'] });
  const module = (what: string) => ({ siteId: site.id, kind: 'cors', name: unique(what), settings });
  const unused = await db.module.create({ data: module('unused') });
  const used = await db.module.create({ data: module('used') });
  await db.domainModule.create({ data: { domainId: healthy.id, kind: used.kind, moduleId: used.id } });
  const job = { siteId: site.id, kind: 'purgeSite', createdBy: 'someone' };
  const purge = await db.job.create({ data: { ...job, title: unique('purge'), state: 'failed', endedAt: longAgo } });
  const old = new Date(Date.now() - 48 * HOUR_MS);
  await db.job.create({ data: { ...job, title: unique('old'), state: 'failed', endedAt: old } });
  await db.outbox.create({
    data: { zoneId: zone.id, key: `site/${site.id}`, error: 'notCompiled', failedAt: longAgo },
  });

  const connected = { connectedAt: new Date(), lastSeenAt: new Date(), nginx: 'running' };
  const node = async (what: string, state: object) => {
    const { id } = await build.node({ zone });
    const row = await db.edgeNode.update({ where: { id }, data: { name: unique(what), joinedAt: longAgo } });
    await db.nodeState.create({ data: { nodeId: id, revision: 2, ...state } });
    return { ...row, zone };
  };
  await db.zone.update({ where: { id: zone.id }, data: { revision: 2 } });
  await db.edgeDocument.create({
    data: { zoneId: zone.id, key: 'zone', revision: 2, sha256: '', body: '', updatedAt: longAgo },
  });
  const well = await node('well', { ...connected, logsLost: 7, logsLostAt: new Date(Date.now() - 25 * HOUR_MS) });
  const nodes = {
    nodesRejected: await node('rejects', {
      ...connected,
      rejected: [{ key: 'zone', revision: 2, error: 'no such directive' }],
    }),
    nodesOffline: await node('lost', { lastSeenAt: longAgo, disconnectedAt: longAgo }),
    nodesDisconnected: await node('silent', { lastSeenAt: new Date(), disconnectedAt: longAgo, nginx: 'running' }),
    nodesLosingLogs: await node('full', { ...connected, logsLost: 3, logsLostAt: longAgo }),
    nodesBehind: await node('late', { ...connected, revision: 1 }),
  };
  // Well by its own reports only.
  const monitor = { enabled: true, type: 3, port: 443, url: null, content: null, interval: 10, failAction: 'none' };
  await db.edgeNode.update({ where: { id: well.id }, data: { monitor } });
  const standing = { isIn: true, since: longAgo, monitorStatus: 'error', monitorSince: longAgo };
  await db.nodeStanding.create({ data: { nodeId: well.id, ...standing } });
  const monitorRow = async (what: string, lastSeenAt: Date) =>
    db.monitorNode.create({
      data: {
        clientId: site.clientId,
        name: unique(what),
        ip: '192.0.2.77',
        joinedAt: longAgo,
        state: { create: { version: '1.0.0', lastSeenAt } },
      },
    });
  const silentMonitor = await monitorRow('quiet', longAgo);
  const reporting = await monitorRow('loud', new Date(Date.now() + HOUR_MS));
  await db.monitorGroup.create({
    data: {
      clientId: site.clientId,
      name: unique('monitors'),
      zones: { create: { zoneId: zone.id } },
      members: { create: { monitorId: reporting.id } },
    },
  });
  await db.group.create({ data: { zoneId: zone.id, name: unique('group') } });
  const uninstallable = await node('installing', connected);
  const failedJob = { kind: 'install', state: 'failed', createdBy: 'someone' };
  await db.nodeJob.create({ data: { ...failedJob, nodeId: uninstallable.id, endedAt: longAgo } });
  await db.nodeJob.create({ data: { ...failedJob, nodeId: well.id, endedAt: old } });
  const rollout = await build.rollout(well, { state: 'paused', title: unique('rollout'), endedAt: null });
  return {
    nodesRejected: nodes.nodesRejected.name,
    nodesOffline: nodes.nodesOffline.name,
    nodesFailingMonitors: well.name,
    sitesUnpublished: site.name,
    cnameInactive: broken.name,
    certificatesMissing: forced.name,
    certificatesFailed: failing.name,
    jobsFailed: purge.title,
    nodeJobsFailed: uninstallable.name,
    rolloutsStopped: rollout.title,
    nodesDisconnected: nodes.nodesDisconnected.name,
    monitorsOffline: silentMonitor.name,
    nodesLosingLogs: nodes.nodesLosingLogs.name,
    nodesBehind: nodes.nodesBehind.name,
    certificatesEnding: ending.name,
    modulesUnused: unused.name,
  };
}
