import type { Family } from './family.ts';

export const areas = [
  'account',
  'role',
  'apiToken',
  'audit',
  'zone',
  'group',
  'node',
  'product',
  'site',
  'domain',
  'certificate',
  'cache',
  'module',
  'firewall',
  'dns',
  'statistics',
  'log',
  'traffic',
  'monitor',
  'setting',
  'branding',
  'announcement',
  'notify',
  'license',
  'upgrade',
  'backup',
  'webhook',
] as const;

export type Area = (typeof areas)[number];
export type Permission = `${Area}:${'read' | 'write'}`;

/** The areas of each console. */
export const areasOf: Readonly<Record<Family, readonly Area[]>> = {
  user: [
    'account',
    'role',
    'apiToken',
    'audit',
    'site',
    'domain',
    'certificate',
    'cache',
    'module',
    'firewall',
    'dns',
    'statistics',
    'log',
    'traffic',
    'notify',
  ],
  client: areas,
  admin: ['account', 'role', 'apiToken', 'audit', 'statistics', 'license'],
};

const both = (area: Area): Permission[] => [`${area}:read`, `${area}:write`];

export const permissions: readonly Permission[] = areas.flatMap(both);
/** All permissions of a console, as of its root accounts. */
export const permissionsOf = (kind: Family): readonly Permission[] => areasOf[kind].flatMap(both);
