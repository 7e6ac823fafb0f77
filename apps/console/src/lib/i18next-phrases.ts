import i18next from 'i18next';
import type { Phrases } from './phrases.ts';

export function i18nextPhrases(): Phrases {
  const instance = i18next.createInstance();
  return {
    learn(language, words) {
      if (!instance.isInitialized)
        void instance.init({
          lng: language,
          fallbackLng: false,
          initAsync: false,
          resources: {},
          // Keys contain messages, which may contain colons.
          nsSeparator: false,
          interpolation: { escapeValue: false },
          // A phrase with a missing value shows the value's name.
          missingInterpolationHandler: (_text, match: RegExpExecArray) => match[0],
        });
      instance.addResourceBundle(language, 'translation', words, true, true);
      if (instance.language !== language) void instance.changeLanguage(language);
    },
    find(word, values) {
      const phrase = instance.t(word, { ...values, skipInterpolation: true });
      // i18next returns the key of an unknown phrase and of a group of phrases.
      return phrase === word ? null : phrase;
    },
    fill: (phrase, values) => instance.services.interpolator.interpolate(phrase, values, instance.language, {}),
  };
}
