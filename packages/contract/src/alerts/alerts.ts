// Alerts: conditions of the attention list that are reported when they begin and when they end.
import * as z from 'zod';
import { AttentionKind } from '../attention/attention.ts';
import { Id, paging, Time } from '../common/common.ts';

export const AlertKind = AttentionKind.extract([
  'nodesRejected',
  'nodesOffline',
  'nodesFailingMonitors',
  'sitesUnpublished',
  'cnameInactive',
  'certificatesFailed',
  'rolloutsStopped',
  'nodesDisconnected',
  'monitorsOffline',
  'nodesLosingLogs',
  'certificatesEnding',
]);
export const AlertSeverity = z.enum(['critical', 'warning']);

interface KindOfAlert {
  readonly severity: AlertSeverity;
  /** Sent by a channel unless its owner chose otherwise. */
  readonly isDefault: boolean;
  /** Concerns an object of a site, so that the site's customer gets it, too. */
  readonly isOfSite: boolean;
}
/** The declaration of each kind. Its texts are in apps/api/src/alerts/texts.ts and the console's `alerts.kinds`. */
export const alertKinds: Readonly<Record<AlertKind, KindOfAlert>> = {
  nodesRejected: { severity: 'critical', isDefault: true, isOfSite: false },
  nodesOffline: { severity: 'critical', isDefault: true, isOfSite: false },
  nodesFailingMonitors: { severity: 'critical', isDefault: true, isOfSite: false },
  sitesUnpublished: { severity: 'critical', isDefault: true, isOfSite: true },
  cnameInactive: { severity: 'warning', isDefault: false, isOfSite: true },
  certificatesFailed: { severity: 'warning', isDefault: true, isOfSite: true },
  rolloutsStopped: { severity: 'warning', isDefault: true, isOfSite: false },
  nodesDisconnected: { severity: 'warning', isDefault: false, isOfSite: false },
  monitorsOffline: { severity: 'warning', isDefault: true, isOfSite: false },
  nodesLosingLogs: { severity: 'warning', isDefault: true, isOfSite: false },
  certificatesEnding: { severity: 'warning', isDefault: true, isOfSite: true },
};

export const Alert = z.object({
  id: Id,
  kind: AlertKind,
  severity: AlertSeverity,
  name: z.string().describe('The name of the object when the alert began'),
  siteID: Id.nullable().describe('Null: no site, or one that the caller does not see'),
  siteName: z.string().nullable().describe('The name of the site when the alert began'),
  beganAt: Time,
  endedAt: Time.nullable().describe('Null: it lasts'),
});
export const AlertQuery = z.object({
  ...paging(['beganAt', 'endedAt']).shape,
  kinds: z.array(AlertKind).min(1).optional(),
  isOpen: z.boolean().optional(),
});

export type AlertKind = z.output<typeof AlertKind>;
export type AlertSeverity = z.output<typeof AlertSeverity>;
export type Alert = z.output<typeof Alert>;
export type AlertQuery = z.output<typeof AlertQuery>;
