import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Button } from '@mantine/core';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Section } from '../../components/page/section.tsx';
import type { RowAction } from '../../components/resource-table/actions.tsx';
import { useAllowed, useRunAction } from '../../components/resource-table/run-actions.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { SizeField } from '../../components/fields/size-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { Bytes } from '../../components/values/values.tsx';
import { useT, type Word } from '../../lib/i18n.ts';
import {
  clearing,
  disabling,
  draining,
  enabling,
  rebooting,
  resetting,
  rotating,
  uninstalling,
  useNodeForms,
} from './node-actions.ts';
import { GenevaForm, LogRotateTimeForm } from './node-forms.tsx';
import type { EdgeNode } from './node-states.ts';
import classes from './nodes.module.css';

interface TabProps {
  node: EdgeNode;
}

/** Cache size, limit and purge. */
export function CacheTab({ node }: TabProps) {
  const t = useT();
  const { purging } = useNodeForms();
  return (
    <ResourceForm update={nodes.update} value={{ ...node, ssh: undefined }} bar submitLabel="common.save">
      <Section title="nodes.settings.cache" why="nodes.settings.cacheWhy">
        <Facts>
          <Fact term={t('nodes.fields.cacheBytes')}>
            <Bytes of={node.cacheBytes} />
          </Fact>
        </Facts>
        <SizeField name="cacheMaxBytes" unit="GB" />
        <TextField name="cacheDir" />
      </Section>
      <Commands node={node} commands={[{ action: purging, why: 'nodes.purgePoint' }, clear]} />
    </ResourceForm>
  );
}

export const GenevaTab = ({ node }: TabProps) => (
  <GenevaForm rows={[node]} within={{ title: 'nodes.settings.geneva', why: 'nodes.settings.genevaWhy' }} />
);

export const LogsTab = ({ node }: TabProps) => (
  <LogRotateTimeForm rows={[node]} within={{ title: 'nodes.settings.logs', why: 'nodes.settings.logsWhy' }}>
    <Commands node={node} commands={[rotate]} />
  </LogRotateTimeForm>
);

interface Command {
  action: RowAction<EdgeNode>;
  /** Effect of the command. */
  why: Word;
}
const clear: Command = { action: clearing, why: 'nodes.clearPoint' };
const rotate: Command = { action: rotating, why: 'nodes.rotatePoint' };

/** All commands of the machine with their effect. */
export function CommandsTab({ node }: TabProps) {
  const { moving, purging, roles } = useNodeForms();
  return (
    <Commands
      node={node}
      commands={[
        ...(node.enabled
          ? [
              { action: draining, why: 'nodes.drainPoints.serves' } as const,
              { action: disabling, why: 'nodes.disablePoints.traffic' } as const,
            ]
          : [{ action: enabling, why: 'nodes.enablePoint' } as const]),
        { action: roles, why: 'nodes.hints.role' },
        { action: moving, why: 'nodes.movePoint' },
        rotate,
        { action: purging, why: 'nodes.purgePoint' },
        clear,
        { action: resetting, why: 'nodes.resetPoint' },
        { action: rebooting, why: 'nodes.rebootPoint' },
        { action: uninstalling, why: 'nodeJobs.uninstallPoint' },
      ]}
    />
  );
}

function Commands({ node, commands }: TabProps & { commands: readonly Command[] }) {
  const t = useT();
  const allowed = useAllowed();
  const runAction = useRunAction<EdgeNode>();
  const may = allowed<EdgeNode, RowAction<EdgeNode>>(commands.map(({ action }) => action));
  return (
    <ul className={classes['commands']}>
      {commands
        .filter(({ action }) => may.includes(action))
        .map(({ action, why }) => (
          <li key={action.label}>
            <Button
              variant="default"
              leftSection={<action.icon size={15} stroke={1.6} />}
              disabled={action.kind === 'call' && !action.applies(node)}
              onClick={() => void runAction(action, { rows: [node], nameOf: ({ name }) => name, params: undefined })}
            >
              {t(action.label)}
            </Button>
            <p>
              {t(why)}
              {action.kind === 'call' && !action.applies(node) && (
                <span className={classes['cannot']}>{t(action.skips)}</span>
              )}
            </p>
          </li>
        ))}
    </ul>
  );
}
