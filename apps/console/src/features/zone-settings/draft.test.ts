import { settingsIn } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { expect, test } from 'vitest';
import { applied, draftOf, sentOf, type Settings } from './draft.ts';

const settings = (wish: Partial<Settings> = {}): Settings => ({
  ...settingsIn({}),
  forceSSLRedirectCode: 301,
  ports: [],
  switches: [],
  version: 1,
  author: '',
  changedAt: null,
  trial: null,
  withdrawn: null,
  ...wish,
});
const stood = settings();

test('nothing that was changed is nothing to send, and what is set back is nothing changed', () => {
  expect(sentOf(stood, draftOf(stood, stood))).toEqual({});
  const there = applied(stood, draftOf(stood, { ...stood, http2: false }));
  expect(sentOf(stood, draftOf(stood, { ...there, http2: true }))).toEqual({});
});

// Regression: a draft of the block list reset the allow list to its state when the page was opened.
test('what a colleague sets meanwhile beside it stays as they set it', () => {
  const draft = draftOf(stood, {
    ...stood,
    firewall: { ...stood.firewall, blacklist: ['198.51.100.0/24'] },
    nginx: { ...stood.nginx, http: 'send_timeout 9s;' },
  });
  const now = settings({
    firewall: { ...stood.firewall, whitelist: ['203.0.113.7'] },
    nginx: { ...stood.nginx, custom: 'proxy_next_upstream_tries 3;' },
    soakSeconds: 60,
  });
  expect(sentOf(now, draft)).toEqual({
    firewall: { ...stood.firewall, whitelist: ['203.0.113.7'], blacklist: ['198.51.100.0/24'] },
    nginx: { http: 'send_timeout 9s;' },
  });
  expect(applied(now, draft).nginx).toMatchObject({
    http: 'send_timeout 9s;',
    custom: 'proxy_next_upstream_tries 3;',
  });
});

test('a draft that was stored before there was a part is sent without it', () => {
  const draft = { ...draftOf(stood, { ...stood, http2: false }), visitorAddress: undefined };
  expect(sentOf(stood, JSON.parse(JSON.stringify(draft)))).toEqual({ http2: false });
  const proxied = { ...stood.visitorAddress, proxy: 'cloudflare' as const };
  expect(sentOf(stood, draftOf(stood, { ...stood, visitorAddress: proxied }))).toEqual({ visitorAddress: proxied });
});
