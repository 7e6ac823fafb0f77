import { byFeature } from '../by-feature.ts';

const own = import.meta.glob<object>(
  './{accounts,announcementSetting,charts,dashboard,dnsSetting,errorMessages,errorRules,frame,ipset,licenses,palette,proxy,rates,security,securityAnalysis,shared,sites,statistics,status,unprocessed}.json',
  { eager: true, import: 'default' },
);
const menus = import.meta.glob<object>(
  [
    './*.json',
    '!./{app,auth,common,errors}.json',
    '!./{accounts,announcementSetting,charts,dashboard,dnsSetting,errorMessages,errorRules,frame,ipset,licenses,palette,proxy,rates,security,securityAnalysis,shared,sites,statistics,status,unprocessed}.json',
  ],
  { eager: true, import: 'default', query: '?menu' },
);

/** Words of the frame and the dashboards, and of the menus' entries (build/menu-words.ts). */
export const words = byFeature({ ...own, ...menus });
