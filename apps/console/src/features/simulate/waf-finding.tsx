import type { Simulation } from '@edgeloom/contract/simulate/simulate.ts';
import { WafExplanation } from '../logs/waf-explanation.tsx';
import { ExceptionButton } from '../waf/exception-button.tsx';

interface WafFindingProps {
  siteId: string;
  /** The name that the simulated request is for. */
  host: string;
  step: Simulation['steps'][number];
}

/** Explains the firewall's finding in a simulated request, and offers an exception for it. */
export function WafFinding({ siteId, host, step: { waf, detail } }: WafFindingProps) {
  const { rule, path } = detail;
  return (
    <>
      {waf && <WafExplanation waf={waf} />}
      {rule !== undefined && path !== undefined && (
        <ExceptionButton siteId={siteId} from={{ simulated: { host, path, rule, waf } }} />
      )}
    </>
  );
}
