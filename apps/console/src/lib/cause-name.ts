import { tMaybe } from './i18n.ts';

/** The name of a cause in the access log, in statistics and in block sets. */
export const causeName = (cause: string) =>
  tMaybe(`ipset.choices.causes.${cause}`) ?? tMaybe(`statistics.causes.${cause}`) ?? cause;
