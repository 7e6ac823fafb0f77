import { readFileSync } from 'node:fs';
import type { AlertEvent } from '@edgeloom/contract/webhooks/webhooks.ts';
import { expect, test } from 'vitest';
import { alertText, words } from './texts.ts';

const event = (more: Partial<AlertEvent>): AlertEvent => ({
  alertID: '019363a0-0000-7000-8000-000000000001',
  kind: 'nodesOffline',
  severity: 'critical',
  phase: 'began',
  name: 'tpe-1',
  siteName: null,
  at: new Date(0),
  ...more,
});

test('groups by kind and phase, critical ones first', () => {
  const events = [
    event({ phase: 'ended', name: 'tpe-9' }),
    event({ kind: 'cnameInactive', name: 'www.example.com', siteName: 'shop' }),
    event({}),
    event({ name: 'tpe-2' }),
  ];
  expect(alertText(events, 'en').split('\n')).toEqual([
    '🔴 Node offline: tpe-1, tpe-2',
    '🟠 CNAME not active: www.example.com (site shop)',
    '🟢 Ended: Node offline: tpe-9',
  ]);
  expect(alertText(events, 'zh-TW')).toContain('🟢 已解除：節點離線：tpe-9');
});

test('a thousand events of a kind are one line with twenty names', () => {
  const text = alertText(
    Array.from({ length: 1000 }, (_, i) => event({ name: `n${i}` })),
    'zh-CN',
  );
  expect(text.split('\n')).toHaveLength(1);
  expect(text).toContain('n19，以及其他 980 项');
});

test.each(Object.entries(words))('%s: kinds are named as in the console', (language, { kinds }) => {
  const file = new URL(`../../../console/src/locales/${language}/alerts.json`, import.meta.url);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ kinds });
});
