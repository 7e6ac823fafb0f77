import { simulate } from '@edgeloom/contract/simulate/simulate.calls.ts';
import { Button } from '@mantine/core';
import { IconRoute } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { useParams } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay, useOverlayClose } from '../../components/overlay/overlay.tsx';
import { PageLoading } from '../../components/states/states.tsx';
import { useT } from '../../lib/i18n.ts';
import { withinChunkLimit } from '../../lib/time-limit.ts';
import { useCan } from '../../lib/use-can.ts';
import classes from './simulate.module.css';
import type { SimulatorProps } from './simulator.tsx';

const Simulator = lazy(async () => ({ default: (await withinChunkLimit(import('./simulator.tsx'))).Simulator }));

/** Simulates requests in a drawer, beside the rules that judge them. On a domain's page they begin with its URL. */
export function TryRequest() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const site = useSite();
  const { domainName } = useParams();
  if (!can(simulate.run)) return null;
  const initialUrl = domainName === undefined || domainName.startsWith('*.') ? '' : `https://${domainName}/`;
  return (
    <Button
      variant="default"
      leftSection={<IconRoute size={15} stroke={1.6} />}
      onClick={() =>
        overlay(<SimulatorDrawer site={site} initialUrl={initialUrl} />, { title: 'simulate.title', wide: true })
      }
    >
      {t('simulate.title')}
    </Button>
  );
}

function SimulatorDrawer({ site, initialUrl }: Required<Pick<SimulatorProps, 'site' | 'initialUrl'>>) {
  const t = useT();
  const close = useOverlayClose();
  return (
    <div className={classes['drawer']}>
      <p className={classes['why']}>{t('simulate.why')}</p>
      <Suspense fallback={<PageLoading />}>
        <Simulator site={site} initialUrl={initialUrl} onRuleLinkClick={close} />
      </Suspense>
    </div>
  );
}
