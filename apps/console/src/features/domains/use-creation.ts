import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import type { Sent } from '@edgeloom/contract/endpoint.ts';
import { useState } from 'react';
import { explain } from '../../lib/errors.ts';
import { useAction } from '../../lib/use-endpoint.ts';

/** Maximum per call, which is atomic. */
const AT_ONCE = 1000;

export interface Made {
  id: string;
  name: string;
}
interface Order {
  kind: 'automatic' | 'existing' | 'none';
  certId: string | null;
  /** Names of the creation. */
  names: readonly string[];
}
type Template = Omit<Sent<typeof domains.createSimple>['body'], 'names'>;

export interface Creation {
  made: readonly Made[];
  /** Names that need verification before they can be enabled. */
  waiting: readonly string[];
  /** The error that stopped the creation; `made` lists what was created before. */
  failure: unknown;
  /** Why the domains have no certificate. */
  certificateFailure: string | null;
}

/** Creates the names in batches of a thousand, then their certificate. Stops at the first failed batch. */
export function useCreation(siteId: string) {
  const params = { siteId };
  const create = useAction(domains.createSimple, { refreshes: ['sites'], quiet: true });
  const order = useAction(certificates.autoSSL, { refreshes: ['domains', 'jobs'], quiet: true });
  const assign = useAction(certificates.assign, { refreshes: ['domains'], quiet: true });
  /** Number of created names; null when idle. */
  const [progress, setProgress] = useState<number | null>(null);

  const certify = async (made: readonly Made[], { kind, certId, names }: Order): Promise<string | null> => {
    const wanted = new Set(names);
    const ids = made.filter(({ name }) => wanted.has(name)).map(({ id }) => id);
    try {
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        const some = ids.slice(from, from + AT_ONCE);
        if (kind === 'automatic') await order.run({ params, body: { ids: some } });
        if (kind === 'existing' && certId !== null)
          await assign.run({ params: { ...params, certId }, body: { domainIDs: some } });
      }
      return null;
    } catch (error) {
      return explain(error).text;
    }
  };

  const run = async (names: readonly string[], template: Template, wish: Order): Promise<Creation> => {
    const made: Made[] = [];
    const waiting: string[] = [];
    let failure: unknown = null;
    setProgress(0);
    try {
      for (let from = 0; from < names.length; from += AT_ONCE) {
        const some = names.slice(from, from + AT_ONCE);
        const reply = await create.run({ params, body: { names: some, ...template } });
        for (const [i, id] of (reply?.ids ?? []).entries()) made.push({ id, name: some[i] ?? '' });
        waiting.push(...(reply?.waiting ?? []));
        setProgress(made.length);
      }
    } catch (error) {
      failure = error;
    }
    // Names that wait for verification are disabled and get no certificate yet.
    const ready = made.filter(({ name }) => !waiting.includes(name));
    const certificateFailure = await certify(ready, wish);
    setProgress(null);
    return { made, waiting, failure, certificateFailure };
  };
  return { run, progress };
}
