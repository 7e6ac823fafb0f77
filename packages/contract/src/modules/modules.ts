// Modules: rule sets of a site, assigned to any number of its domains, one of each kind per domain.
import * as z from 'zod';
import { Id, Text, Time } from '../common/common.ts';

export const ModuleKind = z.enum([
  'customHeader',
  'cors',
  'urlRedirect',
  'proxyRewrite',
  'tokenAuth',
  'acl',
  'luaAcl',
  'waf',
]);
export type ModuleKind = z.output<typeof ModuleKind>;

export const ModuleName = Text.describe('Of its own among those of its kind in the site');

/** Common fields of modules. */
export const moduleFields = {
  id: Id,
  name: z.string(),
  inUse: z.int().describe('Domains that it is assigned to'),
  createdAt: Time,
  updatedAt: Time,
};

const domainIDs = z.array(Id).min(1).max(1000).optional().describe("Left out: all of the site's domains");
/** A new module's domains. */
export const AppliesTo = z
  .union([z.enum(['all', 'unassigned']), z.array(Id).max(1000)])
  .default([])
  .describe(
    "Domains that get it at once, instead of their module of this kind: all of the site's, those without one, or these",
  );
/** Fields of new modules only. If several get the same domain, it has the last one. */
export const onlyAtCreation = { appliesTo: AppliesTo };

/** Null removes the assignment. */
export const AssignInput = z.union([
  z.object({ domainIDs, moduleID: Id.nullable() }),
  z.object({ domainIDs, corsID: Id.nullable() }),
]);
export const Assignment = z.object({
  domainID: Id,
  domainName: z.string(),
  moduleID: Id,
  moduleName: z.string(),
});

/** A header field name, restricted to characters that all programs agree on. */
export const FieldName = z
  .string()
  .trim()
  .max(128)
  .regex(/^[A-Za-z0-9-]+$/, { message: 'wrong format' });

export type AppliesTo = z.output<typeof AppliesTo>;
export type AssignInput = z.output<typeof AssignInput>;
export type Assignment = z.output<typeof Assignment>;
