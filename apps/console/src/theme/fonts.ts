const latin = "'IBM Plex Sans Variable'";
export const fonts = {
  'zh-TW': `${latin}, 'PingFang TC', 'Noto Sans TC', 'Noto Sans CJK TC', 'Microsoft JhengHei UI', 'Microsoft JhengHei', sans-serif`,
  'zh-CN': `${latin}, 'PingFang SC', 'Noto Sans SC', 'Noto Sans CJK SC', 'Microsoft YaHei UI', 'Microsoft YaHei', sans-serif`,
  en: `${latin}, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif`,
  mono: "'IBM Plex Mono', ui-monospace, 'SF Mono', Consolas, 'Noto Sans Mono CJK TC', monospace",
};
