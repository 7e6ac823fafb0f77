// Search of layer-4 sessions.
import * as z from 'zod';
import { Id, Port, Time } from '../common/common.ts';
import { Layer4Outcome } from '../statistics/layer4.ts';
import { Addresses, LOGS_COUNTED, withinOneDay } from './logs.ts';

/** A search without its page. */
export const SessionSearch = z.object({
  startTime: Time,
  endTime: Time,
  siteIDs: z.array(Id).max(1000).optional(),
  remoteIP: Addresses.optional().describe('Addresses or networks'),
  ports: z.array(Port).min(1).max(50).optional().describe('Of the node'),
  country: z
    .array(z.string().regex(/^[A-Z]{2}$/))
    .min(1)
    .max(50)
    .optional()
    .describe('ISO 3166'),
  outcomes: z.array(Layer4Outcome).min(1).max(3).optional(),
});
export type SessionSearch = z.output<typeof SessionSearch>;

export const SessionQuery = SessionSearch.extend({
  before: z
    .object({ time: Time, id: Id })
    .optional()
    .describe('Only sessions that ended before this one, to read on after the last counted page'),
  page: z.int().min(1).max(LOGS_COUNTED).default(1),
  pageSize: z.int().min(1).max(500).default(25),
}).superRefine(withinOneDay);
export type SessionQuery = z.output<typeof SessionQuery>;

export const SessionRow = z.object({
  id: Id,
  time: Time.describe('When it ended'),
  siteID: Id,
  siteName: z.string(),
  forwardID: Id.describe('The forward may have been removed since'),
  nodeID: Id,
  nodeName: z.string().describe('Empty for customers, and if removed since'),
  protocol: z.enum(['tcp', 'udp']),
  port: z.int().describe('Of the node'),
  address: z.string(),
  country: z.string().describe('ISO 3166; empty if unknown'),
  isp: z.string(),
  outcome: Layer4Outcome,
  status: z.int().describe('Of nginx: 200, 400 invalid, 403 forbidden, 500 error, 502 no origin, 503 limited'),
  bytes: z.int().describe('To the visitor'),
  requestBytes: z.int().describe('From the visitor'),
  sessionTime: z.number().describe('Milliseconds'),
  upstream: z.string().describe('The origins that were tried'),
});
export type SessionRow = z.output<typeof SessionRow>;

export const SessionPage = z.object({
  data: z.array(SessionRow),
  total: z.int().describe(`Counted up to ${LOGS_COUNTED}; there may be more`),
});
export type SessionPage = z.output<typeof SessionPage>;
