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

export type Permission = `${(typeof areas)[number]}:${'read' | 'write'}`;

export const permissions: readonly Permission[] = areas.flatMap((area): Permission[] => [
  `${area}:read`,
  `${area}:write`,
]);
