// What a name should answer, as desired state has it: by our own lines, whatever the provider.
import * as z from 'zod';
import { Line } from '@edgeloom/contract/dns-setting/lines.ts';

export const WantedSet = z.object({
  line: Line,
  type: z.enum(['A', 'AAAA', 'CNAME']),
  /** Weights count in relation to each other; of an alias there is one value. */
  values: z.array(z.object({ value: z.string(), weight: z.int() })).min(1),
  ttlSeconds: z.int(),
});
export type WantedSet = z.output<typeof WantedSet>;
export const WantedSets = z.array(WantedSet);
