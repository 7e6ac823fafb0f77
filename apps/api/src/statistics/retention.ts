/** Days for which sums of traffic are kept, by the seconds of a step. Partitions are dropped later than that. */
export const TRAFFIC_DAYS = { 60: 8, 300: 94, 3600: 400, 86_400: 1830 } as const;
/** Days for which sketches of addresses are kept, by the seconds of a step. */
export const ADDRESS_DAYS = { 3600: 32, 86_400: 400 } as const;
