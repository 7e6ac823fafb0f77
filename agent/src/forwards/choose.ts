// Chooses which forwards this node can serve, and with which origins. Pure.
import { isIP } from 'node:net';
import type { PortDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { allowedBy } from '../origins/addresses.ts';
import type { Capabilities } from '../render/capabilities.ts';
import { http3Ports } from '../render/http3.ts';
import type { Forward, ForwardOrigin } from '../render/stream-conf.ts';

interface Facts {
  zone: ZoneDoc;
  addressesOf: (name: string) => readonly string[];
  capabilities: Pick<Capabilities, 'streamRealip' | 'http3'>;
}

export interface Chosen {
  forwards: Forward[];
  /** Why other forwards are left out, in words for the operator of the node. */
  leftOut: string[];
}

const nameOfPort = ({ port, protocol }: PortDoc) => `${port}/${protocol}`;

/** A forward that cannot be served is left out, because nginx would refuse all of them. */
export function choose(ports: readonly PortDoc[], { zone, addressesOf, capabilities }: Facts): Chosen {
  const allows = allowedBy(zone.originPolicy);
  const taken = new Set([
    ...zone.ports.map(({ port }) => `${port}/tcp`),
    ...http3Ports(zone, capabilities).map((port) => `${port}/udp`),
  ]);
  const chosen: Chosen = { forwards: [], leftOut: [] };
  for (const port of ports.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const name = nameOfPort(port);
    if (taken.has(name)) chosen.leftOut.push(`port ${name} is taken by the zone or another forward`);
    else if (port.acceptProxy && port.protocol === 'tcp' && !capabilities.streamRealip)
      chosen.leftOut.push(`port ${name} takes the PROXY protocol, for which this nginx has no module`);
    else {
      taken.add(name);
      chosen.forwards.push({ port, origins: port.upstreams.flatMap((upstream) => originsOf(upstream)) });
    }
  }
  return chosen;

  function originsOf({ address, port, weight, backup }: PortDoc['upstreams'][number]): ForwardOrigin[] {
    return (isIP(address) === 0 ? addressesOf(address) : [address])
      .filter((one) => isPlain(one) && allows(one))
      .map((one) => ({ address: one.includes(':') ? `[${one}]` : one, port, weight, backup }));
  }
}

/** nginx does not accept the scope of a link-local address. */
const isPlain = (address: string) => !address.includes('%');

export const namesIn = (ports: readonly PortDoc[]): Set<string> =>
  new Set(ports.flatMap(({ upstreams }) => upstreams.flatMap(({ address }) => (isIP(address) === 0 ? address : []))));
