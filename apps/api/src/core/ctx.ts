import type { FastifyBaseLogger } from 'fastify';
import type { Family, Mount } from '@edgeloom/contract/endpoint.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import type { Installation } from './installation.ts';
import type { ScopedDb } from './scope.ts';

export interface Actor {
  id: string;
  kind: Family;
  /** Of an admin, who belongs to no client: `NOBODY`, which no row carries. */
  clientId: string;
  isRoot: boolean;
  /** The root account that it is a sub-account of; its own id if it is one. */
  rootId: string;
  permissions: ReadonlySet<Permission>;
  email: string;
  name: string;
  /** `NOBODY` where an API token is used directly. */
  sessionId: string;
  /** By which the call, or the session that it was exchanged for, is made. */
  apiTokenId: string | null;
  /** Who acts as this account (switch user); null when it is the account itself. */
  proxy: { id: string; kind: Family; email: string; name: string } | null;
}

/** No row has this id. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Whoever calls without a token: sees nothing, may nothing. */
export const stranger: Actor = {
  id: NOBODY,
  kind: 'user',
  clientId: NOBODY,
  isRoot: false,
  rootId: NOBODY,
  permissions: new Set(),
  email: '',
  name: '',
  sessionId: NOBODY,
  apiTokenId: null,
  proxy: null,
};

/** What a call says of itself apart from its input, for the few handlers that need it: sign-in and metrics. */
export interface Caller {
  address: string;
  /** The host name that was asked for, without its port. */
  host: string;
  /** The browser or program, in its own words, cut to a line. */
  device: string;
  bearer: string | null;
  /** Nobody reads the answer any more, or we are stopping: what tells of something as it goes ends. */
  hasLeft: () => boolean;
  /** False when the browser's headers name another site as the caller. The refresh cookie is not used then. */
  isSameSite: boolean;
  cookies: Readonly<Record<string, string | undefined>>;
  setCookie: (name: string, value: string, options: { path: string; httpOnly: boolean; maxAge?: number }) => void;
  /** Whom the audit line names while there is no session: the address that a sign-in gave. */
  auditName: string | null;
  /** Of which kind that account is, where the path does not say. */
  auditKind: Family | null;
}

/** Who asks, and all that a service may use on their behalf. */
export interface Ctx {
  actor: Actor;
  /** The family that the call was made at. */
  mount: Mount;
  db: ScopedDb;
  log: FastifyBaseLogger;
  reqID: string;
  now: () => Date;
  caller: Caller;
  installation: Installation;
}
