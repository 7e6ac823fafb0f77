import * as z from 'zod';
import { Id, Time } from '../common/common.ts';

export const JobStarted = z.object({ jobID: Id });
export const JobState = z.enum(['processing', 'completed', 'failed']);
/** One node's result. `pending`: none yet; an offline node reports when it returns. */
export const Receipt = z.object({
  nodeID: Id,
  nodeName: z.string(),
  state: z.enum(['pending', 'done', 'failed']),
  tookMs: z.number().nullable(),
  objects: z.int().nullable(),
  error: z.string().nullable(),
  answeredAt: Time.nullable(),
});
/** Jobs of the nodes' caches. */
export const cacheJobKinds = ['purgeSite', 'purgeHosts', 'purgeURLs', 'purgePrefixes', 'purgeTags', 'preheat'] as const;
export const JobKind = z.enum([...cacheJobKinds, 'issueCertificates', 'renewCertificates']);
export const Job = z.object({
  id: Id,
  kind: JobKind,
  state: JobState,
  title: z.string(),
  done: z.int(),
  total: z.int(),
  createdBy: z.string(),
  createdAt: Time,
  endedAt: Time.nullable(),
});
export const JobWithReceipts = Job.extend({ receipts: z.array(Receipt) });
export type Job = z.output<typeof Job>;
export type JobWithReceipts = z.output<typeof JobWithReceipts>;
