import { beforeAll, expect, test } from 'vitest';
import { learn, t } from '../../lib/i18n.ts';
import { words } from '../../locales/en/pages.ts';
import { changeText, valueText } from './in-words.ts';

beforeAll(() => learn('en', words));

// Regression: a four-digit port was formatted as 8,080.
test('ports are names, and none is a dash', () => {
  expect(valueText(t, 'ports', '8080')).toBe('8080');
  expect(valueText(t, 'ports', '')).toBe('—');
  expect(valueText(t, 'visitorAddress.proxyProtocolPorts', '8443')).toBe('8443');
});

// Regression: 100 MiB was shown as 104.86 MB.
test('a size is shown in the unit of its field', () => {
  expect(valueText(t, 'resource.bodyBytes', String(100 * 1024 ** 2))).toBe('100\u00a0MiB');
  expect(valueText(t, 'resource.cacheBytes', String(1.5 * 1024 ** 3))).toBe('1.5\u00a0GiB');
});

// Regression: one replaced network read "1 line → 1 line".
test('a one-line list shows the added and removed lines', () => {
  const [before, after] = ['192.0.2.0/24', '198.51.100.0/24'];
  expect(changeText(t, { field: 'firewall.blacklist', before, after })).toBe('Block list +1 −1 lines');
  expect(changeText(t, { field: 'firewall.whitelist', before: '', after })).toBe('Allow list +1 line');
  expect(
    changeText(t, { field: 'firewall.blacklist', before: `${before}\n${after}`, after: `${after}\n${before}` }),
  ).toBe('Block list same lines in another order');
  expect(changeText(t, { field: 'antiCC.paths', before: '/api/', after: '/rpc/' })).toBe('Paths /api/ → /rpc/');
});
