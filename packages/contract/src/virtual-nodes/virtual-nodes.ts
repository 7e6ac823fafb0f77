import * as z from 'zod';
import { Id, Memo, Text, Time } from '../common/common.ts';
import { DomainNameInput, noDuplicateIP } from '../common/net.ts';

const Interval = z.int().min(0).max(3600).describe('Seconds until the next record answers; 0: all addresses at once');
/** The CNAME target, in full. */
export const Cname = DomainNameInput.refine((name) => !name.startsWith('*.'), { message: 'enter a domain name' });
const Address = z.union([z.ipv4(), z.ipv6()]);

export const CnameInput = z.object({ cname: Cname });
/** One of the zone's nodes, whose current address is used, or an external address. */
export const NodeRecordInput = z
  .object({ nodeID: Id.optional(), ip: Address.optional() })
  .refine(({ nodeID, ip }) => (nodeID === undefined) !== (ip === undefined), { message: 'wrong format', path: ['ip'] });

export const VirtualNodeInput = z.object({
  name: Text,
  memo: Memo.default(''),
  switchingInterval: Interval.default(0),
  cnames: z
    .array(Cname)
    .max(50)
    .refine((names) => new Set(names).size === names.length, { message: 'data already exists' })
    .default([]),
  ips: z.array(Address).max(50).superRefine(noDuplicateIP).default([]),
});
export const VirtualNodeUpdate = z.object({
  id: Id,
  name: Text.optional(),
  memo: Memo.optional(),
  switchingInterval: Interval.optional(),
});
export const VirtualNode = z.object({
  id: Id,
  nodeUID: z.string().describe('As lines know it: v- and the id'),
  name: Text,
  memo: Memo,
  switchingInterval: z.int(),
  recordCount: z.int(),
  groups: z.array(z.string()).describe('Names of the groups that have it on a line'),
  createdAt: Time,
  updatedAt: Time,
});

const Switch = z.object({ id: Id, enabled: z.boolean() });
export const RecordUpdate = Switch;
export const VirtualRecord = Switch.extend({
  disabled: z.boolean().describe('The opposite of enabled'),
  cname: z.string().nullable(),
  ip: z.string().nullable(),
  nodeID: Id.nullable(),
  nodeName: z.string().nullable(),
  createdAt: Time,
});

export type VirtualNode = z.output<typeof VirtualNode>;
export type VirtualNodeInput = z.output<typeof VirtualNodeInput>;
export type VirtualNodeUpdate = z.output<typeof VirtualNodeUpdate>;
export type VirtualRecord = z.output<typeof VirtualRecord>;
export type NodeRecordInput = z.output<typeof NodeRecordInput>;
