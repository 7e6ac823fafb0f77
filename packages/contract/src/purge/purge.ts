import * as z from 'zod';
import { Id, Time } from '../common/common.ts';

export const Softly = z.object({
  soft: z
    .boolean()
    .default(false)
    .describe('What is stored stays and is asked about with the next request, instead of being fetched anew'),
});

/** 1 URL, 2 prefix, 3 whole host, 4 tag. */
export const PurgeInput = z.object({
  type: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]),
  urls: z
    .array(
      z
        .string()
        .trim()
        .min(1)
        .max(4096)
        .regex(/^\P{Cc}+$/u, { message: 'wrong format' }),
    )
    .min(1)
    .max(1000)
    .describe(
      'http:// or https:// URLs of this site; of a prefix, how they begin, with / at the end; of a host, names; tags of Cache-Tag',
    ),
  ...Softly.shape,
});
export const PurgeTag = z
  .string()
  .max(128)
  .regex(/^[!-+\--~](?:[ -+\--~]*[!-+\--~])?$/);
export const PurgeRow = z.object({
  id: Id,
  type: z.int().describe('As it was asked for; 0: the whole site'),
  soft: z.boolean(),
  urls: z.array(z.string()),
  state: z.enum(['processing', 'completed', 'failed']),
  jobID: Id.nullable(),
  createdBy: z.string(),
  createdAt: Time,
});
export type PurgeInput = z.output<typeof PurgeInput>;
