import { Navigate, useLocation } from 'react-router-dom';
import { Frame } from '../../components/frame/frame.tsx';
import type { MenuGroup } from '../../components/frame/menu.ts';
import { RolloutBanner } from '../../features/rollouts/rollout-banner.tsx';
import { to } from '../../lib/family.ts';
import { useSession } from '../../stores/session.ts';
import { over } from '../over.ts';
import { siteViews } from '../site-views.ts';
import { menu } from './menu.ts';

const banners = [RolloutBanner];
const first = to('DNSSetting');
/** Open to whoever has still to set DNS up: their own account's safety waits for nothing. */
const beside = new Set([first, to('security'), to('changePassword')]);
const nothing: readonly MenuGroup[] = [];

/** A root account without DNS meets its setting-up first: until then no name of a site leads anywhere. */
export function Component() {
  const isFirst = useSession(({ account }) => account?.isRoot === true && account.dnsType === null);
  const { pathname } = useLocation();
  if (isFirst && !beside.has(pathname)) return <Navigate to={first} replace />;
  return <Frame menu={isFirst ? nothing : menu} views={siteViews} over={over} banners={banners} />;
}
