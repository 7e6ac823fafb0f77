import type { Language } from './languages.ts';

/** The console's language for the browser's preferences; Traditional Chinese by default. */
export const languageFor = (tags: readonly string[]): Language =>
  tags.map(languageOf).find((language) => language !== null) ?? 'zh-TW';

function languageOf(tag: string): Language | null {
  try {
    // Hong Kong and Macau use Traditional Chinese, Singapore Simplified; a script subtag wins.
    const { language, script } = new Intl.Locale(tag).maximize();
    if (language === 'en') return 'en';
    if (language !== 'zh' && language !== 'yue') return null;
    return script === 'Hans' ? 'zh-CN' : 'zh-TW';
  } catch {
    return null;
  }
}
