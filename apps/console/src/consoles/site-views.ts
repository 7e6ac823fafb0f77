// The pages of one site, in menu order. The customer's console and the operator's show the same ones.
import type { SiteViewGroup } from '../components/frame/menu.ts';

export const siteViews: readonly SiteViewGroup[] = [];
