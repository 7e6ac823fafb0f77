import type { OwnLimits } from '@edgeloom/contract/sites/sites.ts';

const names = ['domainLimit', 'portLimit', 'autoCertificateLimit', 'maxConnections', 'responseMbps'] as const;
export type LimitName = (typeof names)[number];
type CommonLimits = Partial<OwnLimits>;

/** The limits that all of the sites share. Those in which they differ are left out. */
export const commonLimits = (sites: readonly { ownLimits: OwnLimits }[]): CommonLimits =>
  Object.fromEntries(
    names.flatMap((name) => {
      const [first = null, ...others] = new Set(sites.map(({ ownLimits }) => ownLimits[name]));
      return others.length > 0 ? [] : [[name, first]];
    }),
  );

/** The limits that a form has changed, so that a save leaves the others as they are. */
export const changedLimits = (before: CommonLimits, input: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(names.flatMap((name) => (input[name] === before[name] ? [] : [[name, input[name]]])));
