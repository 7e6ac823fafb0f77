import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useEffect, useState } from 'react';
import { useAction } from '../../lib/use-endpoint.ts';

export type CnameCheck = Received<typeof domains.checkCname>['data'][number];

const AGAIN_MS = 10_000;

/** Looks the names up now, and repeatedly until all are correct or the component unmounts. */
export function useCnameCheck(siteId: string, ids: readonly string[]) {
  const { run, running } = useAction(domains.checkCname, { quiet: true });
  const [found, setFound] = useState<readonly CnameCheck[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const asked = ids.join();
  const isDone = found !== null && found.every(({ cnameStatus }) => cnameStatus === 'active');
  useEffect(() => {
    if (isDone) return;
    const check = async () => {
      try {
        const reply = await run({ params: { siteId }, body: { ids: asked.split(',') } });
        setFound(reply?.data ?? []);
        setError(null);
      } catch (failure) {
        setError(failure);
      }
    };
    void check();
    const timer = setInterval(() => void check(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [run, siteId, asked, isDone]);
  return { found, error, running };
}
