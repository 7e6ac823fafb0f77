import { expect, test } from 'vitest';
import { changedLimits, commonLimits } from './own-limits.ts';

const limits = {
  domainLimit: null,
  portLimit: null,
  autoCertificateLimit: null,
  maxConnections: null,
  responseMbps: null,
};

// Regression: where sites differed, the limits of all of them became those of the product.
test('a save of one limit leaves the others of several sites as they are, also those in which they differ', () => {
  const before = commonLimits([
    { ownLimits: { ...limits, domainLimit: 5, portLimit: 0 } },
    { ownLimits: { ...limits, domainLimit: 9, portLimit: 0 } },
  ]);
  expect(before).toEqual({ portLimit: 0, autoCertificateLimit: null, maxConnections: null, responseMbps: null });
  expect(changedLimits(before, { ...before, responseMbps: 20 })).toEqual({ responseMbps: 20 });
  expect(changedLimits(before, { ...before, domainLimit: null })).toEqual({ domainLimit: null });
});
