import { byFeature } from '../by-feature.ts';

const files = import.meta.glob<object>('./{app,auth,common,errors}.json', { eager: true, import: 'default' });

/** Messages of the sign-in page, by feature. */
export const words = byFeature(files);
