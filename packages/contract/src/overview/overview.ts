import * as z from 'zod';

/** Queues of background work. */
export const Queue = z.enum(['certificateOrders', 'nodeJobs', 'outgoingMails', 'nameProofs']);

/** The whole installation, over all operators. Up to 15 seconds old. */
export const Overview = z.object({
  customers: z
    .object({
      operators: z.int(),
      blockedOperators: z.int().describe('Operators that cannot sign in'),
      users: z.int().describe('Customers of all operators, without their sub-accounts'),
      sites: z.int(),
      domains: z.int(),
    })
    .nullable()
    .describe('Null: the account may not read accounts'),
  nodes: z.object({
    online: z.int(),
    offline: z.int(),
    disabled: z.int(),
    rejecting: z.int().describe('Nodes that rejected a document'),
  }),
  queues: z.array(
    z.object({
      queue: Queue,
      due: z.int().describe('Entries that are due and that no process works on'),
      delaySeconds: z.number().describe('How long the oldest of them has been due'),
    }),
  ),
  failingDocuments: z.int().describe('Documents that failed to compile and are not published'),
  waitingChanges: z.object({
    count: z.int().describe('Changes that the publisher has not taken yet'),
    delaySeconds: z.number().describe('How long the oldest of them has waited'),
  }),
});

export type Queue = z.output<typeof Queue>;
export type Overview = z.output<typeof Overview>;
