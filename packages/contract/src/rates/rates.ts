// Bandwidth limits of responses.
import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { checkPaths, PathType, PathValues, storedPaths } from '../common/paths.ts';

const fields = {
  type: PathType.default('all'),
  value: PathValues.default([]),
  rate: z.int().min(1).max(1_048_576).describe('KiB per second, of each request'),
  after: z.int().min(0).max(1_073_741_824).default(0).describe('KiB that come at full speed first'),
  priority: z.int().min(0).max(10_000).default(100).describe('Lower comes first; the first rule that matches wins'),
  enabled: z.boolean().default(true),
};

export const RateInput = z.object(fields).superRefine(checkPaths).overwrite(storedPaths);
export const RateUpdate = z
  .object({ id: Id, ...fields })
  .superRefine(checkPaths)
  .overwrite(storedPaths);
export const Rate = z.object({
  id: Id,
  type: PathType,
  value: z.array(z.string()),
  rate: z.int(),
  after: z.int(),
  priority: z.int(),
  enabled: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
});

export type Rate = z.output<typeof Rate>;
export type RateInput = z.output<typeof RateInput>;
