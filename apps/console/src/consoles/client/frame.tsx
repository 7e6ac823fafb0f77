import { Frame } from '../../components/frame/frame.tsx';
import { DnsBanner } from '../../features/dns-setting/dns-banner.tsx';
import { LicenseBanner } from '../../features/licenses/license-banner.tsx';
import { RolloutBanner } from '../../features/rollouts/rollout-banner.tsx';
import { over } from '../over.tsx';
import { siteViews } from '../site-views.ts';
import { menu } from './menu.ts';

const banners = [RolloutBanner, LicenseBanner, DnsBanner];

export const Component = () => <Frame menu={menu} views={siteViews} over={over} banners={banners} />;
