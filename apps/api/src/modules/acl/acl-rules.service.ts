// The rules of a module, one by one.
import { randomUUIDv7 } from 'node:crypto';
import { AclSettings, type AclRule, type AclRuleInput, type AclRuleUpdate } from '@edgeloom/contract/acl/acl.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { assertDisabled, editRules, own, settled, type InModule } from './acl.service.ts';

export async function list(
  { db }: Ctx,
  at: InModule,
  { page, pageSize, sortBy, orderBy }: Paging<'position' | 'name'>,
) {
  const { rules } = AclSettings.parse((await own(db, at)).settings);
  const sorted = sortBy === 'name' ? rules.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) : rules;
  const ordered = orderBy === 'desc' ? sorted.toReversed() : sorted;
  return { data: ordered.slice((page - 1) * pageSize, page * pageSize), total: rules.length };
}

export const create = (ctx: Ctx, at: InModule, input: AclRuleInput) =>
  editRules(ctx, at, (rules) => {
    const reply = settled(input, randomUUIDv7());
    return { rules: [...rules, reply], reply };
  });

export const update = (ctx: Ctx, at: InModule, { id, ...input }: AclRuleUpdate) =>
  editRules(ctx, at, (rules) => {
    assertAll(rules, [id]);
    const reply = settled(input, id);
    return { rules: rules.map((rule) => (rule.id === id ? reply : rule)), reply };
  });

export const enable = (ctx: Ctx, at: InModule, { ids, enabled }: { ids: string[]; enabled: boolean }) =>
  editRules(ctx, at, (rules) => {
    assertAll(rules, ids);
    return { rules: rules.map((rule) => (ids.includes(rule.id) ? { ...rule, enabled } : rule)), reply: { ids } };
  });

/** All rules, so that two people who move rules at once cannot mix their orders. */
export const order = (ctx: Ctx, at: InModule, { ids }: { ids: string[] }) =>
  editRules(ctx, at, (rules) => {
    assertAll(rules, ids);
    if (ids.length !== rules.length || new Set(ids).size !== ids.length) failAt('ids', 'required', 'required');
    const byId = new Map(rules.map((rule) => [rule.id, rule]));
    return { rules: ids.flatMap((id) => byId.get(id) ?? []), reply: { ids } };
  });

export const remove = (ctx: Ctx, at: InModule, ids: string[]) =>
  editRules(ctx, at, (rules) => {
    assertAll(rules, ids);
    assertDisabled(rules.filter(({ id }) => ids.includes(id)));
    return { rules: rules.filter(({ id }) => !ids.includes(id)), reply: { ids } };
  });

function assertAll(rules: readonly AclRule[], ids: readonly string[]) {
  if (ids.some((id) => !rules.some((rule) => rule.id === id))) fail('NOT_FOUND');
}
