import type { FastifyBaseLogger } from 'fastify';
import type { Family, Mount } from '@edgeloom/contract/family.ts';
import type { Actor } from './actor.ts';
import type { Installation } from './installation.ts';
import type { NamedObject } from './named-objects.ts';
import type { ScopedDb } from './scope.ts';

/** Facts about a request besides its input, for the few handlers that need them: sign-in and metrics. */
export interface Caller {
  address: string;
  /** The requested host name without port. */
  host: string;
  /** The User-Agent, shortened to a line. */
  device: string;
  bearer: string | null;
  /** The client disconnected or the process is stopping: streams end. */
  hasLeft: () => boolean;
  /** False when the browser reports a cross-site request. The refresh cookie is not used then. */
  isSameSite: boolean;
  cookies: Readonly<Record<string, string | undefined>>;
  setCookie: (name: string, value: string, options: { path: string; httpOnly: boolean; maxAge?: number }) => void;
  /** The account in the audit log while there is no session: the address of a sign-in. */
  auditName: string | null;
  /** The kind of that account if the path does not determine it. */
  auditKind: Family | null;
  /** The header Action-Id: the same in all calls of one action. */
  actionId: string | null;
  /** The call's input as the audit row shows it; null before the input was read. */
  auditInput: AuditInput | null;
}

export interface AuditInput {
  /** Number of objects that the call is about. */
  count: number;
  /** Names from the input, for objects that a failed call did not create and that have no ids. */
  names: readonly string[];
  values: Readonly<Record<string, string | number | boolean>>;
  targets: readonly NamedObject[];
}

/** The caller, and the dependencies that a service may use on the caller's behalf. */
export interface Ctx {
  actor: Actor;
  /** The endpoint family of the call. */
  mount: Mount;
  db: ScopedDb;
  log: FastifyBaseLogger;
  reqID: string;
  now: () => Date;
  caller: Caller;
  installation: Installation;
}
