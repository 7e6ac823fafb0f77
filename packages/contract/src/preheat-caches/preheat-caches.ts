import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { PreheatUrl } from '../preheat/preheat.ts';

/** Per zone: each node handles all of them. */
export const PREHEAT_CACHES_AT_MOST = 1000;

export const PreheatCachesInput = z.object({
  urls: z
    .array(PreheatUrl)
    .min(1)
    .max(PREHEAT_CACHES_AT_MOST)
    .describe(
      'http:// or https:// URLs of sites of this zone, with the port that visitors use; each node keeps them stored',
    ),
});

/** A URL that a zone's nodes keep cached, and the number of nodes that have it. */
export const PreheatCache = z.object({
  id: Id,
  url: z.string(),
  siteID: Id,
  siteName: z.string(),
  domainName: z.string(),
  state: z
    .enum(['stored', 'waiting', 'failing', 'resting'])
    .describe('stored: on every node; resting: its site does not serve it just now'),
  nodes: z.int().describe('Edge nodes of the zone'),
  stored: z.int(),
  waiting: z.int().describe('To be fetched'),
  failing: z.int().describe('Not fetched, or not stored; it is retried'),
  warmedAt: Time.nullable().describe('When a node last found it stored'),
  createdBy: z.string(),
  createdAt: Time,
});

/** The state on one node. */
export const PreheatCopy = z.object({
  nodeID: Id,
  nodeName: z.string(),
  state: z.enum(['waiting', 'stored', 'notStored', 'failed', 'resting']),
  fault: z.string().nullable().describe('What the node met'),
  warmedAt: Time.nullable(),
  dueAt: Time.describe('When it looks again'),
});

export type PreheatCache = z.output<typeof PreheatCache>;
export type PreheatCopy = z.output<typeof PreheatCopy>;
