// Classes of visitors that DNS may answer differently. Lines that a provider does not support use the default.
import * as z from 'zod';

/** Carriers, by their announced networks. */
export const carriers = {
  cht: { country: 'TW', networks: [3462] },
  tfn: { country: 'TW', networks: [9924] },
  ct: { country: 'CN', networks: [4134, 4809, 4812, 23724] },
  cu: { country: 'CN', networks: [4837, 4808, 9929, 10099] },
  cm: { country: 'CN', networks: [9808, 56040, 56041, 56042, 56044, 56046, 56047, 56048, 24400, 58453] },
} as const;
export const continents = ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'] as const;

/** Visitors outside these are overseas. */
export const chineseSpeaking = ['CN', 'HK', 'MO', 'TW'] as const;

/** In the order of matching: the first line that applies. */
export const Line = z
  .string()
  .regex(/^(default|cht|tfn|ct|cu|cm|overseas|country-[A-Z]{2}|continent-(AF|AN|AS|EU|NA|OC|SA))$/, {
    message: 'wrong format',
  })
  .describe(
    'default: everybody whom no other line takes; cht, tfn, ct, cu, cm: a carrier; overseas: outside of China, Hong Kong, Macau and Taiwan; country-JP, continent-EU: a place',
  );
export type Line = z.output<typeof Line>;

/** Offered without a search for a place. */
export const commonLines: readonly Line[] = ['default', 'cht', 'tfn', 'ct', 'cu', 'cm', 'overseas'];

/** The degree of support for weights, from most to least. Without support all members are answered equally. */
export const Weighting = z
  .enum(['eachLine', 'oneLine', 'none'])
  .describe('eachLine: on every line; oneLine: where a name has one line only; none: nowhere, all are answered alike');
export type Weighting = z.output<typeof Weighting>;
