import { byFeature } from '../by-feature.ts';

const files = import.meta.glob<object>(
  [
    './*.json',
    '!./{app,auth,common,errors}.json',
    '!./{accounts,announcementSetting,charts,dashboard,dnsSetting,errorMessages,errorRules,frame,ipset,licenses,palette,proxy,rates,security,securityAnalysis,shared,sites,statistics,status,unprocessed}.json',
  ],
  { eager: true, import: 'default' },
);

/** All words of the features that neither the sign-in page nor the frame needs (frame.ts lists the frame's). */
export const words = byFeature(files);
