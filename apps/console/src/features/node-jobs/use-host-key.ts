import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { useRef, useState } from 'react';
import { useAction } from '../../lib/use-endpoint.ts';

/** The host key that the machine at this address presents. Only the latest reading counts. */
export function useHostKey(ip: string, port: number) {
  const { run } = useAction(nodeJobs.hostKey, { quiet: true });
  const [found, setFound] = useState<{ address: string; key: string } | null>(null);
  const [isReading, setReading] = useState(false);
  const latest = useRef<object | null>(null);
  const address = `${ip}:${port}`;

  /** Throws the cause when the key cannot be read. */
  const read = async () => {
    const request = {};
    latest.current = request;
    const isLatest = () => latest.current === request;
    setFound(null);
    setReading(true);
    try {
      const reply = await run({ body: { ip, port } });
      if (isLatest() && reply) setFound({ address, key: reply.fingerprint });
    } catch (error) {
      if (isLatest()) throw error;
    } finally {
      if (isLatest()) setReading(false);
    }
  };
  const cancel = () => {
    latest.current = null;
    setReading(false);
  };
  return { key: found?.address === address ? found.key : null, address, isReading, read, cancel };
}
