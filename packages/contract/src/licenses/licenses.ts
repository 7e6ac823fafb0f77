import * as z from 'zod';
import { AccountStatus } from '../auth/auth.ts';
import { Id, Time } from '../common/common.ts';

/** Objects that a license limits, counted per operator. */
export const Licensed = z.enum(['sites', 'nodes', 'zones', 'domains', 'autoCertificates']);
const Counts = z.object({
  sites: z.int(),
  nodes: z.int(),
  zones: z.int(),
  domains: z.int(),
  autoCertificates: z.int(),
});
export const License = z.object({
  limits: Counts.describe('0: unlimited'),
  uses: Counts,
  layer4: z.boolean().describe('Whether its sites may forward ports by layer 4'),
  endsAt: Time.nullable().describe('From then on nothing is added; what is there goes on'),
});
/** An operator with its license. One without a license has no limits. */
export const OperatorLicense = License.extend({
  accountID: Id.describe("The operator's root account"),
  clientName: z.string(),
  status: AccountStatus,
});

export type Licensed = z.output<typeof Licensed>;
export type License = z.output<typeof License>;
export type OperatorLicense = z.output<typeof OperatorLicense>;
