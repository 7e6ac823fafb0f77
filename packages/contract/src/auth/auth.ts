import * as z from 'zod';
import { Id, Text, Time } from '../common/common.ts';

export const AccountKind = z.enum(['user', 'client', 'admin']);
export const AccountStatus = z.enum(['normal', 'pause', 'lock', 'expired']);
export const Language = z.enum(['zh-TW', 'zh-CN', 'en']);
export const Email = z.string().trim().toLowerCase().pipe(z.email().max(254));
export const Password = z.string().min(8).max(256);
/** 0 e-mail code, 1 authenticator, 2 none. */
export const Login2FAType = z.union([z.literal(0), z.literal(1), z.literal(2)]);

export const LoginInput = z.object({ email: Email, password: z.string().min(1).max(256) });
export const LoginStarted = z.object({
  login2FAType: Login2FAType,
  onePassKey: z.string(),
  vcode: z.string().optional().describe('Only when no second factor is asked: finish with it at once'),
});
export const CodeInput = z.object({
  email: Email,
  onePassKey: z.string().min(1).max(200),
  vcode: z.string().regex(/^[0-9]{6}$/, { message: 'wrong format' }),
});
export const Tokens = z.object({ accessToken: z.string(), refreshToken: z.string(), tokenType: z.literal('Bearer') });
/** Browsers leave refreshToken out: theirs is in a cookie that no script reads. */
export const RefreshInput = z.object({
  refreshToken: z.string().max(500).optional(),
  accessToken: z.string().max(4000).optional(),
});

export const Self = z.object({
  id: Id,
  email: Email,
  name: Text,
  auth: AccountKind,
  isRoot: z.boolean(),
  status: AccountStatus,
  language: Language,
  clientID: Id.nullable(),
  dnsType: z.string().nullable(),
  permissions: z.array(z.string()),
  maxLogExportTimes: z.int(),
  createdAt: Time,
});
export type Self = z.output<typeof Self>;
export type Tokens = z.output<typeof Tokens>;
