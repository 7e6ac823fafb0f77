import { Frame } from '../../components/frame/frame.tsx';
import { siteViews } from '../site-views.ts';
import { over } from '../over.ts';
import { RolloutBanner } from '../../features/rollouts/rollout-banner.tsx';
import { menu } from './menu.ts';

const banners = [RolloutBanner];

export const Component = () => <Frame menu={menu} views={siteViews} over={over} banners={banners} />;
