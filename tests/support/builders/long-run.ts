// Some tests repeat one claim in many cases. `npm test` runs a part of the cases, `npm run test:long` all of them.

export const isLongRun = process.env['EDGELOOM_LONG_TESTS'] === '1';

/** All cases in the long run, otherwise every n-th, beginning with the first or with the one at `from`. */
export const casesOfRun = <T>(cases: readonly T[], n: number, from = 0): T[] =>
  isLongRun ? [...cases] : cases.filter((_, i) => i % n === from);
