import type { TrialDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { decodedPath } from '@edgeloom/contract/common/paths.ts';
import { snippetParts } from '@edgeloom/contract/zone-settings/directive-allowlist.ts';
import type { ZoneAntiCC } from '@edgeloom/contract/zone-anti-cc/zone-anti-cc.ts';
import { isEverything } from '@edgeloom/contract/common/net.ts';
import { isOpen, MAX_NETWORKS } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import { trustedProxies } from '@edgeloom/contract/visitor-address/visitor-address.ts';
import { settingsIn } from '@edgeloom/contract/zone-settings/zone-settings.ts';

/** The operator's settings. */
export interface ZoneSet {
  ports: { port: number; tls: boolean }[];
  forceSSLRedirectCode: number;
  /** As stored in the row or a version. Missing settings have defaults. */
  settings: unknown;
}

export interface ZoneRow extends ZoneSet {
  id: string;
  relays: { id: string; address: string; port: number }[];
  /** Features disabled for all sites. */
  off?: string[];
  /** Networks in which the operator allows no origins. */
  restrictedNetworks?: string[];
  /** During a rollout: the settings of nodes that are not part of it yet. */
  live?: ZoneSet | null;
  trial?: { version: number; nodes: string[] } | null;
}

/** Set by the installation's operator rather than the zone's owner. */
export interface OriginPolicy {
  deny: readonly string[];
  allow: readonly string[];
}

export const zoneDoc = (row: ZoneRow, policy: OriginPolicy): ZoneDoc => docOf(row, row.live ?? row, policy);

/** Null without a rollout. */
export const trialDoc = ({ trial, ...row }: ZoneRow, policy: OriginPolicy): TrialDoc | null =>
  trial ? trialOf(trial, docOf(row, row, policy)) : null;

const trialOf = ({ version, nodes }: NonNullable<ZoneRow['trial']>, zone: ZoneDoc): TrialDoc => ({
  kind: 'trial',
  version,
  zone,
  nodes: nodes.toSorted(byText),
  ...(zone.needs && { needs: zone.needs }),
});

function docOf(
  { id, relays, off = [], restrictedNetworks = [] }: ZoneRow,
  { ports, forceSSLRedirectCode, settings }: ZoneSet,
  { deny, allow }: OriginPolicy,
): ZoneDoc {
  const { http2, http3, resource, nginx, firewall: lists, antiCC, ipset, visitorAddress } = settingsIn(settings);
  const proxies = trustedProxies(visitorAddress);
  const firewall = { ...lists, whitelist: withoutEverything(lists.whitelist) };
  const proxied = visitorAddress.proxyProtocolPorts;
  const snippets = snippetParts.filter((part) => nginx.enable && nginx[part] !== '').map((part) => [part, nginx[part]]);
  const less = (['compression', 'image'] as const).filter((name) => off.includes(name));
  const needs = [
    ipset.enabled && 'ipset',
    (firewall.blacklist.length > 0 || firewall.synProtection) && 'firewall',
    firewall.level > 0 && 'firewallLevel',
    ports.some(({ port }) => proxied.includes(port)) && 'proxyProtocol',
    proxies !== null && 'visitorAddress',
    // Earlier agents read `deny`, and let the exceptions lift it.
    restrictedNetworks.length > 0 && allow.length > 0 && 'restrictedNetworks',
  ].filter((need) => need !== false);
  return {
    kind: 'zone',
    id,
    ports: ports
      .map(({ port, tls }) => ({ port, tls, ...(proxied.includes(port) && { proxyProtocol: true }) }))
      .sort((a, b) => a.port - b.port),
    http2,
    http3: http3 && !off.includes('http3'),
    tlsProtocols: ['TLSv1.2', 'TLSv1.3'],
    worker: { processes: resource.workerProcesses, connections: resource.workerConnections },
    cache: {
      maxBytes: resource.cacheBytes,
      keyBytes: resource.cacheKeyBytes,
      inactiveSeconds: resource.cacheInactiveSeconds,
    },
    maxBodyBytes: resource.bodyBytes,
    forceSSLRedirectCode,
    ...(snippets.length > 0 && { snippets: Object.fromEntries(snippets) }),
    ...(less.length > 0 && { off: less }),
    ...(off.includes('waf') && { wafOff: true as const }),
    // Addresses on the allow list are exempt from the block set too.
    ...((!isOpen(firewall) || (ipset.enabled && firewall.whitelist.length > 0)) && { firewall }),
    ...(ipset.enabled && { ipset: { timeout: ipset.timeout, max: ipset.max } }),
    ...(antiCC.enabled && !off.includes('antiCC') && { antiCC: antiCCDoc(antiCC, firewall.whitelist) }),
    ...(proxies && { visitorAddress: proxies }),
    ...(relays.length > 0 && { relays: relays.toSorted((a, b) => byText(a.id, b.id)) }),
    originPolicy: {
      deny: [...deny, ...restrictedNetworks].sort(byText),
      allow: [...allow].sort(byText),
      ...(restrictedNetworks.length > 0 && { restricted: restrictedNetworks.toSorted(byText) }),
    },
    ...(needs.length > 0 && { needs }),
  };
}

const largeNetworks = Array.from({ length: 256 }, (_, first) => `${first}.0.0.0/8`);
/**
 * Earlier agents reject a document with `/0`. On an allow list, 256 networks of /8 mean the same to every agent.
 * IPv6 would take more networks than a list holds. A block list may not cover half of all addresses in parts.
 */
function withoutEverything(networks: string[]): string[] {
  const isIPv6 = (network: string) => network.includes(':');
  if (!networks.some((network) => isEverything(network) && !isIPv6(network))) return networks;
  const parts = [...networks.filter(isIPv6), ...largeNetworks];
  return parts.length > MAX_NETWORKS ? networks : parts;
}

/** The allow list is exempt from challenges too. */
const antiCCDoc = ({ enabled: _, ...antiCC }: ZoneAntiCC, whitelist: readonly string[]) => ({
  ...antiCC,
  paths: antiCC.paths.map(decodedPath),
  whitelist: [...whitelist],
});

/** By code units, which are equal on every machine, unlike collations. */
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
