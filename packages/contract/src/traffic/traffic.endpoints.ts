import * as z from 'zod';
import { Id, Ids, paged, paging } from '../common/common.ts';
import { del, get, onClient, onUser, post, put } from '../endpoint.ts';
import {
  MonthlyUsages, MonthQuery, TrafficPackage, TrafficPackageInput, TrafficPackageUpdate, TrafficReport,
} from './traffic.ts';

const productName = z.string().max(256).optional();

export const trafficPackages = onClient('trafficPackages', {
  list:   get('extraTrafficPlans', { can: 'traffic:read', query: paging(['createdAt', 'startsAt', 'endsAt', 'updatedAt']).extend({ userID: Id.optional(), productID: Id.optional(), productName }), reply: paged(TrafficPackage) }),
  create: post('extraTrafficPlan', { can: 'traffic:write', body: TrafficPackageInput, reply: TrafficPackage }),
  update: put('extraTrafficPlan', { can: 'traffic:write', body: TrafficPackageUpdate, reply: TrafficPackage }),
  remove: del('extraTrafficPlans', { can: 'traffic:write', body: Ids, reply: Ids }),
});

/** Those of the customer. Sub-accounts, who may not see all of its sites, see none. */
export const ownTrafficPackages = onUser('ownTrafficPackages', {
  list: get('extraTrafficPlans', { can: 'traffic:read', query: paging(['createdAt', 'startsAt', 'endsAt']).extend({ productName }), reply: paged(TrafficPackage.omit({ memo: true })) }),
});

const page = { page: z.int().min(1).default(1), pageSize: z.int().min(1).max(500).default(25) };
export const trafficUsage = onClient('trafficUsage', {
  months: get('traffic/monthlyUsages', { can: 'traffic:read', query: MonthQuery.extend({ ...page, userID: Id.optional() }), reply: MonthlyUsages }),
  report: get('traffic/report', { can: 'traffic:read', query: MonthQuery.extend({ userID: Id.optional() }), reply: TrafficReport, csv: true }),
});

/** The report as CSV: the same call with another Accept. */
export const trafficReportFile = { ...trafficUsage.report, answers: 'text/csv' } as const;

/** As ownTrafficPackages. */
export const ownTrafficUsage = onUser('ownTrafficUsage', {
  months: get('traffic/monthlyUsages', { can: 'traffic:read', query: MonthQuery.extend(page), reply: MonthlyUsages }),
});
