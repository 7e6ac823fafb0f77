import { paged } from '../common/common.ts';
import { get, onSites } from '../endpoint.ts';
import * as a from './alerts.ts';

/** Alerts are deleted 90 days after they ended. */
export const alerts = onSites('alerts', {
  list: get('alerts', { can: 'notify:read', query: a.AlertQuery, reply: paged(a.Alert) }),
});
