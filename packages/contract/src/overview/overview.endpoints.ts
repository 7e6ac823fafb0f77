import { get, onAdmin } from '../endpoint.ts';
import { Overview } from './overview.ts';

/** The administrator's first page. */
export const overview = onAdmin('overview', {
  get: get('overview', { can: 'signedIn', reply: Overview }),
});
