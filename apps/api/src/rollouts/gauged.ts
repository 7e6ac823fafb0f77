// What is kept of a node's gauges: how its visitors and it itself fared since one moment.
import * as z from 'zod';

export const Gauged = z.object({
  /** Answered since the moment from which it counts. */
  requests: z.int(),
  serverErrors: z.int(),
  /** The newest; null where nobody came. */
  p99Ms: z.number().nullable(),
});
