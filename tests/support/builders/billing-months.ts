/** The months of traffic packages, as the API counts them. */
export { billingMonth, monthOf } from '@edgeloom/api/statistics/billing-month.ts';
