export const logTabs = [
  { value: 'requests', label: 'logs.tab' },
  { value: 'waf', label: 'logs.waf.tab' },
  { value: 'sessions', label: 'logs.sessions.tab' },
] as const;
