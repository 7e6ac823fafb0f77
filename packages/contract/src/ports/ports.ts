import * as z from 'zod';
import { Id, Memo, Port as AnyPort, Time } from '../common/common.ts';
import { Upstream, Upstreams } from '../domains/domains.ts';
import { PortDoc } from '../edge/documents.ts';
import type { ErrorMessage } from '../messages.ts';

/** Ports that every site of a zone uses. Other ports are enabled per site. */
export const isEverySites = (port: number) => port === 80 || port === 443;

/** Ports that nodes or their operators need: databases, caches, metrics, and agents. */
export const reservedPorts: readonly { from: number; to: number }[] = [
  { from: 3306, to: 3306 },
  { from: 3311, to: 3311 },
  { from: 6379, to: 6379 },
  { from: 9100, to: 9100 },
  { from: 61_000, to: 61_199 },
];
const isReserved = (port: number) => reservedPorts.some(({ from, to }) => port >= from && port <= to);

export const ForwardPort = z
  .int()
  .min(1000)
  .max(65_000)
  .refine((port) => !isReserved(port), { message: 'port is not valid' })
  .describe('1000 to 65000, apart from what nodes need for themselves and from the layer-7 ports of the zone');
const { protocol: Protocol, method: Method, acceptProxy, sendProxy, maxFails, failTimeoutSeconds } = PortDoc.shape;
const { connectTimeoutSeconds, idleTimeoutSeconds } = PortDoc.shape;
export { Method, Protocol };

interface Consistent {
  protocol: z.output<typeof Protocol>;
  acceptProxy: boolean;
  sendProxy: boolean;
  method: z.output<typeof Method>;
  upstreams: readonly { backup: boolean }[];
}
/** Errors of combinations of valid settings, at the field that must change. */
export function forwardFaults(forward: Consistent): { path: (string | number)[]; message: ErrorMessage }[] {
  const { protocol, method, upstreams } = forward;
  const proxied = (['acceptProxy', 'sendProxy'] as const).filter((name) => forward[name]);
  return [
    ...(protocol === 'udp' ? proxied.map((name) => ({ path: [name], message: 'only with TCP' as const })) : []),
    // The visitor's address determines the origin, so no origin can be a backup.
    ...upstreams.flatMap(({ backup }, i) =>
      method === 'addressHash' && backup
        ? [{ path: ['upstreams', i, 'backup'], message: 'not with the address hash' as const }]
        : [],
    ),
  ];
}

export const ForwardInput = z
  .object({
    port: ForwardPort,
    protocol: Protocol.default('tcp'),
    enabled: z.boolean().default(true),
    memo: Memo.default(''),
    acceptProxy: acceptProxy.default(false),
    sendProxy: sendProxy.default(false),
    method: Method.default('roundRobin'),
    maxFails: maxFails.default(3),
    failTimeoutSeconds: failTimeoutSeconds.default(10),
    connectTimeoutSeconds: connectTimeoutSeconds.default(5),
    idleTimeoutSeconds: idleTimeoutSeconds.default(600),
    upstreams: Upstreams,
  })
  .superRefine((forward, ctx) => {
    for (const fault of forwardFaults(forward)) ctx.addIssue({ code: 'custom', ...fault });
  });
export const ForwardsInput = z.object({ ports: z.array(ForwardInput).min(1).max(500) });
/** Pasted lines in the format of port-lines.ts. */
export const PortLines = z.object({ lines: z.array(z.string().max(2000)).min(1).max(500) });
/** Omitted fields stay unchanged. Given origins replace all existing ones. */
export const ForwardUpdate = z.object({
  port: ForwardPort.optional(),
  protocol: Protocol.optional(),
  enabled: z.boolean().optional(),
  memo: Memo.optional(),
  acceptProxy: acceptProxy.optional(),
  sendProxy: sendProxy.optional(),
  method: Method.optional(),
  maxFails: maxFails.optional(),
  failTimeoutSeconds: failTimeoutSeconds.optional(),
  connectTimeoutSeconds: connectTimeoutSeconds.optional(),
  idleTimeoutSeconds: idleTimeoutSeconds.optional(),
  upstreams: Upstreams.optional(),
});

/** A port of a site: a port of its zone (layer 7), or a forward (layer 4). */
export const Port = z.object({
  id: Id,
  portType: z.union([z.literal(4), z.literal(7)]),
  port: AnyPort,
  protocol: Protocol,
  tls: z.boolean().describe('HTTPS; of layer 7'),
  enabled: z.boolean(),
  memo: z.string(),
  // Layer 4 only; null for layer 7.
  acceptProxy: acceptProxy.nullable(),
  sendProxy: sendProxy.nullable(),
  method: Method.nullable(),
  maxFails: maxFails.nullable(),
  failTimeoutSeconds: failTimeoutSeconds.nullable(),
  connectTimeoutSeconds: connectTimeoutSeconds.nullable(),
  idleTimeoutSeconds: idleTimeoutSeconds.nullable(),
  upstreams: z.array(Upstream),
  createdAt: Time,
  updatedAt: Time,
});

export const OpenPorts = z.object({ ports: z.array(AnyPort).min(1).max(100) });
/** A port of the site's zone, and whether the site uses it. */
export const SiteZonePort = z.object({
  id: Id,
  port: AnyPort,
  portType: z.literal(7),
  tls: z.boolean(),
  open: z.boolean(),
  createdAt: Time,
});

export type Port = z.output<typeof Port>;
export type ForwardInput = z.output<typeof ForwardInput>;
export type ForwardUpdate = z.output<typeof ForwardUpdate>;
export type SiteZonePort = z.output<typeof SiteZonePort>;
