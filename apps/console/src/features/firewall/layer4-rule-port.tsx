import { Pill } from '../../components/status/status.tsx';

interface RulePortProps {
  of: { port: number; isForwarded: boolean };
  notForwarded: string;
}

/** The port of a layer-4 rule, marked if the rule has no effect there. */
export function RulePort({ of: { port, isForwarded }, notForwarded }: RulePortProps) {
  return (
    <>
      {port} {!isForwarded && <Pill tone="warn">{notForwarded}</Pill>}
    </>
  );
}
