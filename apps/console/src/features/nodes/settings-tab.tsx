import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Button } from '@mantine/core';
import type { ReactElement } from 'react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Section } from '../../components/page/section.tsx';
import { useRunAction } from '../../components/resource-table/run-actions.tsx';
import type { CallAction } from '../../components/resource-table/actions.tsx';
import { Bytes } from '../../components/values/values.tsx';
import { duration } from '../../lib/format.ts';
import { useLanguage, useT, type Word } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { isConnected } from './figures.ts';
import { clearing, rotating } from './node-actions.ts';
import { GenevaForm, LogRotateTimeForm } from './node-forms.tsx';
import type { EdgeNode } from './node-states.ts';
import classes from './nodes.module.css';

/** What is set of the machine itself, each with what can be done at once. */
export function SettingsTab({ node }: { node: EdgeNode }) {
  const t = useT();
  const language = useLanguage();
  const can = useCan();
  const overlay = useOverlay();
  const runAction = useRunAction<EdgeNode>();
  const run = (action: CallAction<EdgeNode>) =>
    void runAction(action, { rows: [node], nameOf: ({ name }) => name, params: undefined });
  const change = (title: Word, form: ReactElement) =>
    can(nodes.update) && (
      <Button variant="default" onClick={() => overlay(form, { title })}>
        {t('common.edit')}
      </Button>
    );
  const now = (action: CallAction<EdgeNode>) =>
    can(action.endpoint) && (
      <Button variant="default" disabled={!isConnected(node)} onClick={() => run(action)}>
        {t(action.label)}
      </Button>
    );
  const size = (bytes: number | null) => (bytes === null ? t('nodes.settings.system') : `${bytes} B`);
  return (
    <>
      <Section title="nodes.settings.cache" why="nodes.settings.cacheWhy">
        <Facts>
          <Fact term={t('nodes.fields.cacheBytes')}>
            <Bytes of={node.cacheBytes} />
          </Fact>
          <Fact term={t('nodes.fields.cacheMaxBytes')}>
            {node.cacheMaxBytes === 0 ? t('nodes.info.zoneDefault') : <Bytes of={node.cacheMaxBytes} />}
          </Fact>
        </Facts>
        <div className={classes['buttons']}>{now(clearing)}</div>
      </Section>
      <Section title="nodes.settings.geneva" why="nodes.settings.genevaWhy">
        <Facts>
          <Fact term={t('nodes.fields.packetSize')}>{size(node.geneva.packetSize)}</Fact>
          <Fact term={t('nodes.fields.windowSize')}>{size(node.geneva.windowSize)}</Fact>
        </Facts>
        <div className={classes['buttons']}>{change('nodes.settings.geneva', <GenevaForm node={node} />)}</div>
      </Section>
      <Section title="nodes.settings.logs" why="nodes.settings.logsWhy">
        <Facts>
          <Fact term={t('nodes.fields.seconds')}>
            {node.logRotateSeconds === 0 ? t('nodes.choices.seconds.0') : duration(node.logRotateSeconds, language)}
          </Fact>
        </Facts>
        <div className={classes['buttons']}>
          {change('nodes.settings.logs', <LogRotateTimeForm node={node} />)}
          {now(rotating)}
        </div>
      </Section>
    </>
  );
}
