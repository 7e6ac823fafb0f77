// Operators' zone settings as one value: the content of a version, and the comparison of two versions. Pure.
import { withAllowedPorts, type VisitorAddress } from '@edgeloom/contract/visitor-address/visitor-address.ts';
import {
  settingsIn,
  type ZoneSettings,
  type ConfigDraft,
  type ZoneContent,
} from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { RedirectCode } from '@edgeloom/contract/zones/zones.ts';

export interface ZoneRows {
  settings: unknown;
  forceSslRedirectCode: number;
  ports: { id: string; port: number; tls: boolean }[];
}

export const contentOf = ({ settings, forceSslRedirectCode, ports }: ZoneRows): ZoneContent => ({
  ...settingsIn(settings),
  forceSSLRedirectCode: RedirectCode.parse(forceSslRedirectCode),
  ports: ports.map(({ id, port, tls }) => ({ id, port, tls })).sort((a, b) => a.port - b.port),
});

export const settingsOf = (content: ZoneContent): ZoneSettings => settingsIn(content);

type Ports = ZoneContent['ports'];

/** The content with other ports. A renumbered port keeps its PROXY protocol. A removed one loses it. */
export function withPorts(content: ZoneContent, ports: Ports): ZoneContent {
  const { visitorAddress } = content;
  const proxyProtocolPorts = visitorAddress.proxyProtocolPorts.flatMap((number) => {
    const before = content.ports.find(({ port }) => port === number);
    return ports.flatMap(({ id, port }) => (id === before?.id ? port : []));
  });
  return { ...content, ports, visitorAddress: { ...visitorAddress, proxyProtocolPorts } };
}

/** The settings with a draft applied. */
export function drafted(content: ZoneContent, { nginx, ports, visitorAddress, ...draft }: ConfigDraft): ZoneContent {
  const before = ports ? withPorts(content, identified(content.ports, ports)) : content;
  const changed = Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined));
  return {
    ...before,
    ...changed,
    nginx: {
      ...before.nginx,
      ...Object.fromEntries(Object.entries(nginx ?? {}).filter(([, value]) => value !== undefined)),
    },
    visitorAddress: visitorAddress ? withVisitorAddress(before.visitorAddress, visitorAddress) : before.visitorAddress,
  };
}

/** Clients of an earlier release do not send the ports with PROXY protocol. */
function withVisitorAddress(
  before: VisitorAddress,
  { proxyProtocolPorts = before.proxyProtocolPorts, ...draft }: NonNullable<ConfigDraft['visitorAddress']>,
): VisitorAddress {
  return withAllowedPorts({ ...draft, proxyProtocolPorts });
}

/** The drafted ports with their IDs. Without an ID, a port with a known number is that port. */
function identified(known: Ports, drafts: NonNullable<ConfigDraft['ports']>): Ports {
  const named = new Set(drafts.map(({ id }) => id));
  const idOf = (port: number) => known.find((one) => one.port === port && !named.has(one.id))?.id ?? NEW;
  return drafts.map(({ id, port, tls }) => ({ id: id ?? idOf(port), port, tls })).sort((a, b) => a.port - b.port);
}
const NEW = '00000000-0000-0000-0000-000000000000';
