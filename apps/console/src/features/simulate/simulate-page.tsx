import { IconRoute } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { Page } from '../../components/page/page.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { useT } from '../../lib/i18n.ts';
import { Simulator } from './simulator.tsx';
import classes from './simulate.module.css';

/** The request simulator. */
export function SimulatePage() {
  const t = useT();
  return (
    <Page title="simulate.title">
      <div className={classes['page']}>
        <p className={classes['why']}>{t('simulate.why')}</p>
        <Simulator
          site={useSite()}
          empty={<EmptyState icon={IconRoute} title={t('simulate.question')} text={t('simulate.empty')} />}
        />
      </div>
    </Page>
  );
}
