import { offersDnsSetup } from '../../lib/dns-setup.ts';
import { ownPath, to } from '../../lib/family.ts';
import { useSession } from '../../stores/session.ts';

/** The page that the sign-in leads back to, else the dashboard. An operator without DNS sees its setup first, once. */
export function afterSignIn(search: URLSearchParams) {
  const next = ownPath(search.get('next'));
  const { account } = useSession.getState();
  return offersDnsSetup(account) ? `${to('DNSSetting')}?${new URLSearchParams({ next })}` : next;
}
