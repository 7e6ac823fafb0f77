// The visitor's address behind another proxy: trusted networks, and the header field in which they name the visitor.
import * as z from 'zod';
import { Port } from '../common/common.ts';
import { isEverything, noDuplicateIP } from '../common/net.ts';
import type { ErrorMessage } from '../messages.ts';
import { isHalf, Network } from '../zone-firewall/zone-firewall.ts';
import { CLOUDFLARE_HEADER, cloudflareNetworks } from './cloudflare.ts';

export const MAX_TRUSTED_NETWORKS = 200;
/** The limit of a zone's ports. */
export const MAX_PROXY_PROTOCOL_PORTS = 1000;

/** Trusting everybody would let visitors choose their address. */
export const TrustedNetwork = Network.refine((network) => !isEverything(network), {
  message: 'wrong format' satisfies ErrorMessage,
});

/** nginx reads these from several lines, or compares them by case. */
const usualNames = ['X-Forwarded-For', 'X-Real-IP', CLOUDFLARE_HEADER];
const canonicalName = (name: string) => usualNames.find((usual) => usual.toLowerCase() === name.toLowerCase()) ?? name;
/** nginx discards fields with other characters. */
export const AddressHeader = z
  .string()
  .trim()
  .overwrite(canonicalName)
  .max(64)
  .regex(/^[A-Za-z0-9-]+$/, { message: 'a header name' satisfies ErrorMessage });

export const visitorProxies = ['none', 'cloudflare', 'custom'] as const;
export type VisitorProxy = (typeof visitorProxies)[number];
export const VisitorAddress = z.object({
  proxy: z
    .enum(visitorProxies)
    .describe("none: connections are the visitors' own; cloudflare: its networks and header; custom: those below"),
  networks: z.array(TrustedNetwork).max(MAX_TRUSTED_NETWORKS).describe('From which the header is believed'),
  header: AddressHeader.describe('With the address; of X-Forwarded-For, the last one that is not trusted'),
  proxyProtocolPorts: z
    .array(Port)
    .max(MAX_PROXY_PROTOCOL_PORTS)
    .describe('Where connections begin with a PROXY header, which is believed in place of the header field'),
});
export type VisitorAddress = z.output<typeof VisitorAddress>;

/** Without a trusted proxy, visitors could choose their address by a PROXY header. */
export const allowsProxyProtocol = (proxy: VisitorProxy) => proxy !== 'none';
/** The settings without ports that they do not allow. */
export const withAllowedPorts = (settings: VisitorAddress): VisitorAddress =>
  allowsProxyProtocol(settings.proxy) ? settings : { ...settings, proxyProtocolPorts: [] };

export const VisitorAddressInput = VisitorAddress.extend({
  networks: VisitorAddress.shape.networks
    .superRefine(noDuplicateIP)
    .refine((networks) => !isHalf(networks), { message: 'half of all addresses' satisfies ErrorMessage }),
  proxyProtocolPorts: VisitorAddress.shape.proxyProtocolPorts
    .refine((ports) => new Set(ports).size === ports.length, { message: 'data already exists' satisfies ErrorMessage })
    .optional()
    .describe('Where connections begin with a PROXY header. Absent: unchanged; none without a proxy'),
}).superRefine(({ proxy, networks, proxyProtocolPorts = [] }, ctx) => {
  if (proxy === 'custom' && networks.length === 0)
    ctx.addIssue({ code: 'custom', path: ['networks'], message: 'required' satisfies ErrorMessage });
  if (!allowsProxyProtocol(proxy) && proxyProtocolPorts.length > 0)
    ctx.addIssue({
      code: 'custom',
      path: ['proxyProtocolPorts'],
      message: 'only behind a trusted proxy' satisfies ErrorMessage,
    });
});

export const ownAddresses: VisitorAddress = {
  proxy: 'none',
  networks: [],
  header: 'X-Forwarded-For',
  proxyProtocolPorts: [],
};

/** The networks and the header field that nodes trust. Null: none. */
export function trustedProxies({ proxy, networks, header }: VisitorAddress) {
  if (proxy === 'none') return null;
  return proxy === 'cloudflare'
    ? { networks: [...cloudflareNetworks], header: CLOUDFLARE_HEADER }
    : { networks, header };
}
