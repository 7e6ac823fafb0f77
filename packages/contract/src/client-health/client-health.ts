// The state of the parts that an operator depends on.
import * as z from 'zod';
import { Overview, Queue } from '../overview/overview.ts';
import { Check } from '../system/system.endpoints.ts';

export const ClientHealth = z.object({
  status: z.enum(['ok', 'warning', 'error']).describe('The worst of the parts below'),
  version: z.string(),
  checks: z.record(z.string(), Check).describe('Dependencies of the control plane, as in GET health'),
  queues: z
    .array(z.object({ queue: Queue, delaySeconds: z.number() }))
    .describe('Background work of the installation: how long the oldest due entry has waited'),
  nodes: Overview.shape.nodes.describe("The operator's nodes"),
  publishing: z.object({
    failing: z.int().describe('Documents that failed to compile and are not published'),
    waiting: z.int().describe('Changes that the publisher has not taken yet'),
    delaySeconds: z.number().describe('How long the oldest of them has waited'),
  }),
  logs: z.object({ silentNodes: z.int().describe('Online nodes that have sent no logs for three minutes') }),
  certificates: z.object({
    failed: z.int().describe('Certificates that could not be issued'),
    ending: z.int().describe('Certificates in use that expire within 14 days or have expired'),
  }),
});

export type ClientHealth = z.output<typeof ClientHealth>;
