import { LONGEST_DAYS } from '@edgeloom/contract/statistics/statistics.ts';

/**
 * Days for which sums of traffic are kept, by the seconds of a step: those of short steps a day longer than they are
 * read. Partitions are dropped later than that.
 */
export const TRAFFIC_DAYS = { 60: LONGEST_DAYS[1] + 1, 300: LONGEST_DAYS[5] + 1, 3600: 400, 86_400: 1830 } as const;
/** Days for which sketches of addresses are kept, by the seconds of a step. */
export const ADDRESS_DAYS = { 3600: 32, 86_400: 400 } as const;
