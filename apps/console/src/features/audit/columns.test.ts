import { HealthCheck } from '@edgeloom/contract/domains/domains.ts';
import { NodeMonitor } from '@edgeloom/contract/nodes/nodes.ts';
import { ZoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import * as z from 'zod';
import { beforeAll, expect, test } from 'vitest';
import { words } from '../../locales/en/words.ts';
import { words as frame } from '../../locales/en/frame.ts';
import { words as pages } from '../../locales/en/pages.ts';
import { learn, switchPhrases } from '../../lib/i18n.ts';
import { i18nextPhrases } from '../../lib/i18next-phrases.ts';
import { kindName, knownTitle } from '../../components/differences/in-words.ts';
import { tMaybe } from '../../lib/i18n.ts';
import { isShownColumn, isShownTable, shownFields, valueInWords } from './columns.ts';

beforeAll(() => {
  switchPhrases(i18nextPhrases());
  learn('en', { ...words, ...frame, ...pages });
});

const textsOf = (files: Record<string, string>) => Object.values(files).join('\n');
const migrations = textsOf(
  import.meta.glob<string>('../../../../../prisma/migrations/*/migration.sql', {
    eager: true,
    import: 'default',
    query: '?raw',
  }),
);
const schema = textsOf(
  import.meta.glob<string>('../../../../../prisma/schema/*.prisma', { eager: true, import: 'default', query: '?raw' }),
);

const camel = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const watched = new Set(
  [...migrations.matchAll(/TRIGGER audit_insert AFTER INSERT ON (\w+)|^SELECT watch\('(\w+)'\)/gm)].map(
    ([, created, selected]) => created ?? selected,
  ),
);
const models = [...schema.matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm)];
const modelNames = new Set(models.map(([, name]) => name));
/** The tables that the log records, with their columns, in the API's names. */
const tables = models.flatMap(([, , body = '']) => {
  const table = /@@map\("(\w+)"\)/.exec(body)?.[1] ?? '';
  if (!watched.has(table)) return [];
  const columns = [...body.matchAll(/^ {2}(\w+) +(\w+)(.*)$/gm)].flatMap(([, field = '', type = '', rest = '']) =>
    modelNames.has(type) ? [] : [camel(/@map\("(\w+)"\)/.exec(rest)?.[1] ?? field)],
  );
  return [{ table: camel(table), columns }];
});

test('every table and column of the log has a title', () => {
  expect(tables.length).toBe(watched.size);
  const shown = tables.filter(({ table }) => isShownTable(table));
  const unnamed = shown.filter(({ table }) => tMaybe(`audit.entities.${table}`) === null && kindName(table) === table);
  expect(unnamed.map(({ table }) => table)).toEqual([]);
  const untitled = shown.flatMap(({ table, columns }) =>
    columns
      .filter((column) => isShownColumn(table, column) && knownTitle(table, column) === null)
      .map((column) => `${table}.${column}`),
  );
  expect(untitled).toEqual([]);
});

/** Names of all fields, also of objects within. */
const fieldsOf = (schema: z.ZodObject): string[] =>
  Object.entries(schema.shape).flatMap(([name, inner]) => [
    name,
    ...(inner instanceof z.ZodObject ? fieldsOf(inner) : []),
  ]);

test.each([
  ['domains', HealthCheck],
  ['nodes', NodeMonitor],
  ['zones', ZoneSettings],
] as const)('every field of the objects in columns of %s has a title', (table, schema) => {
  const names = fieldsOf(schema);
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => knownTitle(table, name) === null)).toEqual([]);
});

test('values are in words, and ids are names', () => {
  const product = '01a20ee1-59fc-7480-8b4f-2760922cb489';
  const inWords = (column: string, value: unknown) =>
    valueInWords(column.split('.')[0] ?? '', column.split('.')[1] ?? '', value, { [product]: 'Gold' });
  expect(inWords('sites.productId', product)).toBe('Gold');
  expect(inWords('zoneVersions.nodes', [product])).toBe('Gold');
  expect(inWords('accounts.status', 'pause')).toBe('Paused');
  expect(inWords('accounts.isRoot', true)).toBe('Root account');
  expect(inWords('accounts.login2faType', 1)).toBe('Authenticator');
  expect(inWords('purges.type', 2)).toBe('Prefix');
  expect(inWords('nodes.role', 'backup')).toBe('Backup');
  expect(inWords('domains.forceSsl', false)).toBe('Off');
  expect(inWords('domains.failTimeoutSeconds', 10)).toBe('10\u00a0s');
  expect(inWords('sites.tags', [])).toBe('—');
  expect(inWords('roles.permissions', ['site:read'])).toBe('Read: Sites');
  expect(inWords('zoneSwitches.name', 'http3')).toBe('HTTP/3');
});

test('an object that changed is split into the fields that differ, and derived columns are hidden', () => {
  const settings = { http2: true, firewall: { level: 0, whitelist: [] } };
  const before = { id: '1', revision: 4, digest: 'a', settings };
  const after = {
    ...before,
    revision: 5,
    digest: 'b',
    settings: { ...settings, firewall: { level: 50, whitelist: [] } },
  };
  expect(shownFields('zones', before, after)).toEqual([{ field: 'settings.firewall.level', before: 0, after: 50 }]);
});
