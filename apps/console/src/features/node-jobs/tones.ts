export const toneOfStep = { waiting: 'unknown', running: 'busy', done: 'ok', failed: 'bad' } as const;
export const toneOfJob = {
  waiting: 'busy',
  processing: 'busy',
  completed: 'ok',
  failed: 'bad',
  cancelled: 'off',
} as const;
