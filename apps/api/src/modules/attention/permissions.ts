// The permission that a sub-account needs to see a condition.
import type { SiteAttention } from '@edgeloom/contract/attention/attention.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';

export const permissionOf: Readonly<Record<SiteAttention, Permission>> = {
  sitesUnpublished: 'site:read',
  cnameInactive: 'domain:read',
  certificatesMissing: 'domain:read',
  certificatesFailed: 'certificate:read',
  certificatesEnding: 'certificate:read',
  jobsFailed: 'site:read',
  modulesUnused: 'module:read',
};
