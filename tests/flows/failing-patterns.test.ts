// A stored pattern that PCRE rejects must deny nobody, and the node's page names its site and rule.
import { hostKey } from '@edgeloom/contract/edge/documents.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { expect, onTestFinished, test } from 'vitest';
import { controlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { visit } from '../support/assertions/visit.ts';

test('a stored pattern that nginx cannot compile blocks no request and is shown with its node', async () => {
  const plane = await controlPlane({ databaseUrl: await testDatabase() });
  onTestFinished(() => plane.stop());
  const origin = await startOrigin();
  onTestFinished(() => origin.stop());
  const { port, zone, site, name, domainIDs } = await servedSite(plane, origin);
  const { db } = plane.installation;
  const [domainId = ''] = domainIDs;
  const stored = { siteId: site.id, domainId, name: 'Host', operator: 'matches', value: '\\u0061', action: 'deny' };
  const { id: rule } = await db.antiHeader.create({ data: { ...stored, priority: 1, enabled: true } });
  await db.outbox.create({ data: { zoneId: zone.id, key: hostKey(name) } });

  const { nodeID, agent } = await nodeAt(plane, zone);
  onTestFinished(() => agent.stop());
  agent.start();
  await eventually(async () => expect((await visit(port, name, '/')).status).toBe(200), { within: 60_000 });
  // Reported with the next heartbeat.
  await eventually(
    async () => {
      const { failingPatterns } = await plane.as(zone.client).call(nodes.config, { params: { nodeID } });
      expect(failingPatterns).toEqual([
        { site: site.id, siteName: site.name, rule, error: expect.stringContaining('does not support') },
      ]);
    },
    { within: 120_000 },
  );
}, 240_000);
