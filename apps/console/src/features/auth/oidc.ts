// The OIDC redirect flow. State and verifier are kept in this tab.
import { oidc } from '@edgeloom/contract/auth/auth.calls.ts';
import { call } from '../../lib/api.ts';
import { arrive } from '../../lib/sign-in.ts';

const STORAGE_KEY = 'edgeloom.oidc';

export async function beginOidc(client: string | null, next: string | null) {
  const { url, onePassKey } = await call(oidc.start, { body: client ? { client } : {} });
  sessionStorage.setItem(STORAGE_KEY, `${onePassKey}\n${next ?? ''}`);
  location.assign(url);
}

/** Resolves with the path to return to. */
export async function finishOidc(search: string): Promise<string> {
  const [onePassKey, next = ''] = (sessionStorage.getItem(STORAGE_KEY) ?? '').split('\n');
  sessionStorage.removeItem(STORAGE_KEY);
  await arrive(await call(oidc.finish, { body: { onePassKey: onePassKey || '-', search } }));
  return next;
}
