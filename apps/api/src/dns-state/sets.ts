// The wanted records of a name, by our lines and independent of the provider.
import * as z from 'zod';
import { Line } from '@edgeloom/contract/dns-setting/lines.ts';

export const WantedSet = z.object({
  line: Line,
  type: z.enum(['A', 'AAAA', 'CNAME']),
  /** Weights are relative. An alias has one value. */
  values: z.array(z.object({ value: z.string(), weight: z.int() })).min(1),
  ttlSeconds: z.int(),
});
export type WantedSet = z.output<typeof WantedSet>;
export const WantedSets = z.array(WantedSet);
