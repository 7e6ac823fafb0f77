import * as z from 'zod';
import { Id, Memo, Port, Text, Time } from '../common/common.ts';

/** The reason of a change on nodes. */
export const Reason = z.string().trim().max(256).default('').describe('Why; the history of the zone shows it');

export const ZonePortInput = z.object({
  port: Port,
  portType: z.literal(7).default(7).describe('Layer 7'),
  tls: z.boolean().describe('HTTPS on this port'),
});
export const ZonePort = z.object({ id: Id, port: Port, portType: z.literal(7), tls: z.boolean(), createdAt: Time });

const RayLog = z.boolean().describe('False: requests are counted, but not stored for searches, exports and filters');

export const ZoneInput = z.object({
  name: Text,
  memo: Memo.default(''),
  CDNRayLog: RayLog.default(true),
  ports: z
    .array(ZonePortInput)
    .max(100)
    .default([
      { port: 80, portType: 7, tls: false },
      { port: 443, portType: 7, tls: true },
    ])
    .describe('Ports that every node of the zone opens'),
});
export const ZoneUpdate = z.object({
  id: Id,
  name: Text.optional(),
  memo: Memo.optional(),
  CDNRayLog: RayLog.optional(),
});
export const RedirectCode = z.union([z.literal(301), z.literal(302), z.literal(307), z.literal(308)]);
export const Zone = z.object({
  id: Id,
  name: Text,
  memo: Memo,
  CDNRayLog: z.boolean(),
  serial: z.int().describe('Revision of the newest published document'),
  nodeCount: z.int(),
  siteCount: z.int(),
  ports: z.array(z.object({ port: Port, tls: z.boolean() })),
  forceSSLRedirectCode: RedirectCode.describe('The answer that sends visitors to HTTPS'),
  createdAt: Time,
  updatedAt: Time,
});
export type Zone = z.output<typeof Zone>;
export type ZoneInput = z.output<typeof ZoneInput>;
export type ZoneUpdate = z.output<typeof ZoneUpdate>;
export type ZonePort = z.output<typeof ZonePort>;
export type ZonePortInput = z.output<typeof ZonePortInput>;
