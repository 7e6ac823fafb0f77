import type { Language } from '../stores/preferences.ts';

/** The console's language for a browser that asks for these, in their order; Traditional Chinese where none is known. */
export const languageFor = (tags: readonly string[]): Language =>
  tags.map(languageOf).find((language) => language !== null) ?? 'zh-TW';

function languageOf(tag: string): Language | null {
  try {
    // Hong Kong and Macau write Traditional Chinese, Singapore Simplified; a script in the tag wins.
    const { language, script } = new Intl.Locale(tag).maximize();
    if (language === 'en') return 'en';
    if (language !== 'zh' && language !== 'yue') return null;
    return script === 'Hans' ? 'zh-CN' : 'zh-TW';
  } catch {
    return null;
  }
}
