import * as z from 'zod';
import { AccountKind, AccountStatus } from '../auth/auth.ts';
import { Id, Time } from '../common/common.ts';

/** An account as those see it who may choose or manage it. */
export const Account = z.object({
  id: Id,
  email: z.string(),
  name: z.string(),
  auth: AccountKind,
  status: AccountStatus,
  isRoot: z.boolean(),
  createdAt: Time,
});
