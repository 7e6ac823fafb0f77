import * as z from 'zod';
import { get, onRoot } from '../endpoint.ts';

export const Check = z.object({
  ok: z.boolean(),
  tookMs: z.number(),
  error: z.enum(['not reachable', 'no response']).optional().describe('No response: it did not respond in time'),
});

export const system = onRoot('system', {
  health:  get('health', { can: 'anyone', reply: z.object({ status: z.enum(['ok', 'degraded', 'down']), version: z.string(), checks: z.record(z.string(), Check) }), fails: ['SELF_CHECK_FAILED'] }),
  openapi: get('openapi.json', { can: 'anyone', reply: z.record(z.string(), z.unknown()) }),
  metrics: get('metrics', { can: 'anyone', answers: 'text/plain', fails: ['INVALID_TOKEN'] }),
});
