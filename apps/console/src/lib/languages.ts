export const languages = ['zh-TW', 'zh-CN', 'en'] as const;
export type Language = (typeof languages)[number];
