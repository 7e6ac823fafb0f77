// A site served from an origin, and its nodes. Most end-to-end tests start here.
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { testAgent } from '../services/agent.ts';
import { unique } from './build.ts';
import type { BuiltZone } from './build.ts';
import type { ControlPlane } from '../services/control-plane.ts';
import type { Origin } from '../fakes/origin.ts';
import { freePorts } from '../services/ports.ts';

/** A site with one domain in a new zone without nodes. */
export async function servedSite(plane: ControlPlane, origin: Origin) {
  const [port = 0, https = 0] = await freePorts(2);
  const zone = await plane.build.zone({ ports: [port], tlsPorts: [https] });
  return { port, https, zone, ...(await anotherSite(plane, zone, origin)) };
}

/** A site with one domain and a new customer. */
export async function anotherSite({ as, build }: ControlPlane, zone: BuiltZone, origin: Origin) {
  const site = await build.site({ product: await build.product({ zone }) });
  const { call } = as(site.owner);
  const { params } = site;
  const name = `${unique('www')}.example.com`;
  const upstreams = [{ address: '127.0.0.1', port: origin.port }];
  const { ids: domainIDs } = await call(domains.create, { params, body: { domains: [{ name, upstreams }] } });
  return { site, call, params, name, domainIDs };
}

/** A node with a real agent that is not started yet. Nodes of a zone share ports and differ in address. */
export async function nodeAt(plane: ControlPlane, zone: BuiltZone, address = '127.0.0.1') {
  const { nodeID, token, control } = await plane.node(zone, address);
  return { nodeID, address, agent: await testAgent({ control, token, listen: address }) };
}
