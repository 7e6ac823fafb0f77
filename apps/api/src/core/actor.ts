import type { Family } from '@edgeloom/contract/family.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';

/** The account that makes a call. */
export interface Actor {
  id: string;
  kind: Family;
  /** Equals `NOBODY` for admins, who belong to no operator. */
  clientId: string;
  isRoot: boolean;
  /** The root account of a sub-account, or the account itself. */
  rootId: string;
  permissions: ReadonlySet<Permission>;
  email: string;
  name: string;
  /** Equals `NOBODY` for calls by API token. */
  sessionId: string;
  /** The API token of the call, or of the session it was exchanged for. */
  apiTokenId: string | null;
  /** The account behind a switched user. Null: the account itself. */
  proxy: { id: string; kind: Family; email: string; name: string } | null;
}

/** No row has this id. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/** A caller without a token has no rights. */
export const anonymous: Actor = {
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
