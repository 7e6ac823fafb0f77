import type { Session } from '../session.ts';

/** Input of all sections: the site, and an ID that joins calls in the operation log. */
export interface ApplyContext extends Pick<Session, 'call'> {
  params: { siteId: string };
  options: { actionId: string };
}
