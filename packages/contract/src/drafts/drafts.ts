// Drafted changes of a site's configuration, to preview their effect.
import * as z from 'zod';
import { Difference } from '../versions/versions.ts';

export const DraftCall = z.object({
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string().min(1).max(500).describe('Below `site/{siteId}/`: `setting/cacheRules`'),
  body: z.unknown().optional().describe('As the call itself takes it'),
});
export type DraftCall = z.output<typeof DraftCall>;
/** In the order of sending. */
export const DraftCalls = z.array(DraftCall).min(1).max(20);

export const DraftInput = z.object({ calls: DraftCalls });

export const Draft = z.object({
  data: z.array(Difference).describe('What would change; the first 200'),
  total: z.int(),
  documents: z.int().describe('How many documents of the nodes would change'),
  ms: z.number().describe('How long it took to find out'),
});
export type Draft = z.output<typeof Draft>;
