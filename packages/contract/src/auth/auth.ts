import * as z from 'zod';
import { Id, Ids, Memo, Text, Time } from '../common/common.ts';
import { secret } from '../common/secret.ts';

export const AccountKind = z.enum(['user', 'client', 'admin']);
export const AccountStatus = z.enum(['normal', 'pause', 'lock', 'expired']);
export const Language = z.enum(['zh-TW', 'zh-CN', 'en']);
export const Email = z.string().trim().toLowerCase().pipe(z.email().max(254));
export const Password = secret(z.string().min(8).max(256));
/** 0 e-mail code, 1 authenticator, 2 none. */
export const Login2FAType = z.union([z.literal(0), z.literal(1), z.literal(2)]);

export const LoginInput = z.object({ email: Email, password: secret(z.string().min(1).max(256)) });
export const LoginStarted = z.object({
  login2FAType: Login2FAType,
  onePassKey: z.string(),
  passkey: z.boolean().describe('Whether a passkey may finish the sign-in instead of the code'),
  vcode: z.string().optional().describe('Only when no second factor is asked: finish with it at once'),
});
/** Six digits, from the mail or the authenticator. */
export const Vcode = z.string().regex(/^[0-9]{6}$/, { message: 'wrong format' });
/** In place of the authenticator's code: four times six letters. */
export const RecoveryCode = z
  .string()
  .max(40)
  .regex(/^\s*(?:[A-Za-z2-7]{6}[\s-]*){4}$/, { message: 'wrong format' });
export const SecondFactor = z.union([Vcode, RecoveryCode]);
const Key = z.string().min(1).max(200);
const OnePassword = secret(z.string().min(1).max(256));
export const CodeInput = z.object({
  email: Email,
  onePassKey: z.string().min(1).max(200),
  vcode: SecondFactor,
});
export const Tokens = z.object({ accessToken: z.string(), refreshToken: z.string(), tokenType: z.literal('Bearer') });
/** Browsers omit refreshToken, because theirs is in an HttpOnly cookie. */
export const RefreshInput = z.object({
  refreshToken: z.string().max(500).optional(),
  accessToken: z.string().max(4000).optional(),
});

/** The name of a person or a company in any script: 王小明, José O'Brien. */
export const AccountName = Text.max(64).refine((name) => name.toLowerCase() !== 'default', {
  message: 'this name is not allowed',
});
/** Contact data and company of an account. */
export const Contact = z.object({
  phone: Memo,
  address: Memo,
  companyName: Memo,
  companyPhone: Memo,
  companyTaxID: Memo,
});
/** Position of an account in the hierarchy of its console, and its sign-in method. */
export const Standing = z.object({
  grade: z.int().describe('Levels below the root account: 0 is a root account, 1 a sub-account'),
  roleID: Id.nullable(),
  roleName: z.string().nullable(),
  parentID: Id.nullable().describe('The root account of a sub-account'),
  parentName: z.string().nullable(),
  createdByID: Id.nullable().describe('Null for an account of a console above the caller’s, or one that was removed'),
  createdByName: z.string().nullable(),
  loginNotify: z.boolean().describe('Whether a sign-in from a device or address that was not seen before is mailed'),
  googleVerification: z.boolean().describe('Whether an authenticator app is the second factor'),
});
export const SelfUpdate = Contact.extend({
  name: AccountName,
  loginNotify: z.boolean().describe('Mail me when I am signed in from a device or address that was not seen before'),
  language: Language,
  hidesFirstSteps: z.boolean().describe('Whether the list of first steps on the dashboard is dismissed'),
}).partial();

export const Self = Contact.extend({
  ...Standing.shape,
  id: Id,
  email: Email,
  name: Text,
  auth: AccountKind,
  isRoot: z.boolean(),
  status: AccountStatus,
  language: Language,
  hidesFirstSteps: z.boolean().describe('Whether the list of first steps on the dashboard is dismissed'),
  expiry: Time.nullable(),
  clientID: Id.nullable(),
  dnsType: z
    .string()
    .nullable()
    .describe('Of an operator: its DNS provider, or manual; null: none is set, and consoles ask for it first'),
  permissions: z.array(z.string()),
  proxy: z
    .object({ name: z.string(), email: z.string(), home: z.string().describe('The console that they came from') })
    .nullable()
    .describe('Who acts as this account'),
  maxLogExportTimes: z.int(),
  createdAt: Time,
});

export const ForgotInput = z.object({ email: Email });
export const ChangePasswordInput = z.object({ oldPassword: OnePassword, password: Password });
/** Exactly one: the password, or a code of the authenticator. */
export const Presence = z
  .object({ password: OnePassword.optional(), vcode: SecondFactor.optional() })
  .refine(({ password, vcode }) => (password === undefined) !== (vcode === undefined), { message: 'one of the two' });
export const Proven = z.object({ verifyToken: z.string(), expiresIn: z.int().describe('Seconds') });
export const Proof = z.object({ verifyToken: z.string().min(1).max(300) });

export const MailPurpose = z.enum(['invitation', 'reset']);
export const MailedTokenInput = z.object({ token: Key });
export const MailToken = z.object({ email: z.string(), auth: AccountKind, purpose: MailPurpose });
export const RegisterPasswordInput = z.object({ token: Key, password: Password });

export const OwnSession = z.object({
  id: Id,
  device: z.string(),
  address: z.string(),
  current: z.boolean(),
  proxyName: z.string().nullable().describe('Who acts as this account there'),
  apiTokenName: z.string().nullable().describe('The API token that it was exchanged for'),
  createdAt: Time,
  lastUsedAt: Time,
});

export const ProxyInput = z.object({ accountID: Id });
/** Programs use the tokens, browsers the URL with the code. Using one invalidates the other. */
export const Proxied = Tokens.extend({
  code: z.string().describe('Stands for the tokens once, within 60 seconds'),
  url: z
    .string()
    .describe('Where a browser takes the code: a path of the address one is at, or the address of another'),
});
export const SwitchUserInput = z.object({ code: Key });

export const Factors = z.object({
  login2FAType: Login2FAType,
  recoveryCodes: z.int().describe('How many are left'),
  passkeys: z.int(),
});
export const PasswordInput = z.object({ password: OnePassword });
export const OnePassKey = z.object({ onePassKey: Key });
export const AuthenticatorKey = z.object({
  qrCode: z.string().describe('A picture, as a data URL'),
  qrCodeData: z.string().describe('The otpauth URL in it'),
});
export const SetupCodeInput = OnePassKey.extend({ vcode: Vcode });
export const RecoveryCodes = z.object({ recoveryCodes: z.array(z.string()) });
export const TurnOffInput = z.object({ password: OnePassword, vcode: SecondFactor });

export const Passkey = z.object({
  id: Id,
  name: z.string(),
  backedUp: z.boolean().describe('Stored by the maker of the device too, so it outlives the device'),
  createdAt: Time,
  lastUsedAt: Time.nullable(),
});
/** The argument of the browser's navigator.credentials. */
export const PasskeyOptions = z.object({ challengeID: Id, options: z.record(z.string(), z.unknown()) });
const Base64Url = z
  .string()
  .max(65_536)
  .regex(/^[A-Za-z0-9_-]*$/);
// Browsers create these objects, and newer browsers add fields, so unknown fields are ignored.
const Credential = {
  id: Base64Url.min(1).max(1400),
  rawId: Base64Url.min(1).max(1400),
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['platform', 'cross-platform']).optional(),
};
export const PasskeyInput = Proof.extend({
  name: Text,
  challengeID: Id,
  response: z.looseObject({
    ...Credential,
    response: z.looseObject({
      clientDataJSON: Base64Url,
      attestationObject: Base64Url,
      transports: z.array(z.string().max(32)).max(10).optional(),
    }),
  }),
});
export const PasskeysRemoval = Ids.extend(Proof.shape);
/** With the key of a sign-in after the password: passkeys of that account. Without: any passkey of the device. */
export const PasskeyOptionsInput = z.object({ onePassKey: Key.optional() });
export const PasskeyLoginInput = z.object({
  onePassKey: Key.optional(),
  challengeID: Id,
  response: z.looseObject({
    ...Credential,
    response: z.looseObject({
      clientDataJSON: Base64Url,
      authenticatorData: Base64Url,
      signature: Base64Url,
      userHandle: Base64Url.nullish(),
    }),
  }),
});

/** The operator whose provider is used, if the host name does not identify one. */
export const OidcQuery = z.object({ client: Id.optional() });
export const OidcButton = z.object({ buttonText: z.string().nullable() });
export const OidcStartInput = z.object({ client: Id.optional() });
/** `onePassKey` stays in the browser that started the sign-in. A callback in another browser cannot sign in. */
export const OidcStarted = z.object({ url: z.string(), onePassKey: z.string() });
export const OidcFinishInput = z.object({
  onePassKey: Key,
  search: z.string().max(8000).describe("The query that the provider's redirect carries"),
});
export const OidcProviderInput = z.object({
  enabled: z.boolean(),
  issuer: z.url({ protocol: /^https?$/ }).max(500),
  oidcClientId: z.string().trim().min(1).max(256),
  secret: secret(z.string().min(1).max(512)).optional().describe('Left out: it stays as it is'),
  buttonText: Text,
});
export const OidcProvider = OidcProviderInput.omit({ secret: true }).extend({
  redirectURIs: z.array(z.string()).describe('To be registered at the provider'),
});

export const MailSummary = z.object({ id: Id, to: z.string(), subject: z.string(), at: Time });
export const Mail = MailSummary.extend({ text: z.string() });

export type Language = z.output<typeof Language>;
export type MailPurpose = z.output<typeof MailPurpose>;
export type Self = z.output<typeof Self>;
export type SelfUpdate = z.output<typeof SelfUpdate>;
export type Tokens = z.output<typeof Tokens>;
