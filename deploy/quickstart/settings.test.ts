import { expect, test } from 'vitest';
import { helpText, listeners, readSettings, Settings } from './settings.ts';

test('by default the console listens on 8080, the admin console on 8081 and the edge on 9080 and 9443, all on loopback', () => {
  const settings = readSettings({});
  expect(settings).toMatchObject({ PORT: 8080, ADMIN_PORT: 8081, EDGE_HTTP_PORT: 9080, EDGE_HTTPS_PORT: 9443 });
  expect(new Set(listeners(settings, { dev: true }).map(({ host }) => host))).toEqual(new Set(['127.0.0.1']));
});

test('an empty variable counts as unset', () => {
  expect(readSettings({ PORT: '' }).PORT).toBe(8080);
});

test('a port used by two listeners is rejected with both names', () => {
  expect(() => readSettings({ PORT: '9080' })).toThrow('PORT and EDGE_HTTP_PORT are both 9080');
});

test('all invalid settings are reported at once', () => {
  expect(() => readSettings({ PORT: '70000', ORIGIN_HOST: 'here', DATABASE_URL: 'mysql://x' })).toThrow(
    /PORT:[^]*ORIGIN_HOST:[^]*DATABASE_URL:/,
  );
});

test('an external database and nats-server need no port', () => {
  const settings = readSettings({ DATABASE_URL: 'postgresql://db/edgeloom', NATS_URL: 'nats://bus:4222' });
  const variables = listeners(settings, { dev: false }).map(({ variable }) => variable);
  expect(variables).not.toContain('POSTGRES_PORT');
  expect(variables).not.toContain('NATS_PORT');
});

test('the help lists every setting', () => {
  const text = helpText();
  for (const [name, { description }] of Object.entries(Settings.shape)) {
    expect(description, name).toBeTruthy();
    expect(text).toContain(`${name} `);
    expect(text).toContain(description);
  }
});
