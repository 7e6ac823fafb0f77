// Some tests repeat one claim in many cases. `npm test` runs a part of the cases, `npm run test:long` all of them.
// Files that only the long run needs are named `*.long.test.ts`.
import { test } from 'vitest';

export const isLongRun = process.env['EDGELOOM_LONG_TESTS'] === '1';

/** All cases in the long run, otherwise every n-th, beginning with the first or with the one at `from`. */
export const casesOfRun = <T>(cases: readonly T[], n: number, from = 0): T[] =>
  isLongRun ? [...cases] : cases.filter((_, i) => i % n === from);

/** All cases with their names in the long run, otherwise those with one of these names. */
export function namedCasesOfRun<Name extends string, T>(
  cases: Readonly<Record<Name, T>>,
  names: readonly NoInfer<Name>[],
): [string, T][] {
  const ofRun = new Set<string>(isLongRun ? Object.keys(cases) : names);
  return Object.entries<T>(cases).filter(([name]) => ofRun.has(name));
}

/** `test` for what only the long run needs, in a file whose other tests always run. */
// oxlint-disable-next-line vitest/expect-expect, vitest/no-disabled-tests, vitest/valid-title -- it declares no test
export const longTest = test.runIf(isLongRun);
