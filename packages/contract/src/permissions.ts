import type { Family } from './endpoint.ts';

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

/** What there is to allow in each console. */
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
/** All of a console's, which is what its root accounts may. */
export const permissionsOf = (kind: Family): readonly Permission[] => areasOf[kind].flatMap(both);
