// Translated names of features and calls, or their identifiers.
import { tMaybe } from '../../lib/i18n.ts';
import type { Call } from './document.ts';

const spelled = (name: string) => {
  const words = name.replace(/[A-Z0-9]+/g, (part) => ` ${part.toLowerCase()}`).trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export const titleOf = (feature: string) =>
  tMaybe(`apiDoc.features.${feature}`) ?? tMaybe(`${feature}.title`) ?? spelled(feature);

export const nameOf = ({ feature, name }: Pick<Call, 'feature' | 'name'>) =>
  tMaybe(`apiDoc.calls.${feature}.${name}`) ?? tMaybe(`apiDoc.names.${name}`) ?? spelled(name);
