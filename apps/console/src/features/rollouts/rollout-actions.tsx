import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { RolloutActionInput, type RolloutAction } from '@edgeloom/contract/rollouts/rollouts.ts';
import { Button } from '@mantine/core';
import { IconArrowBackUp, IconBolt, IconPlayerPause, IconPlayerPlay, type Icon } from '@tabler/icons-react';
import { TextField } from '../../components/fields/text-field.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import type { Rollout } from './format.ts';
import classes from './rollouts.module.css';

type Acted = Pick<Rollout, 'id' | 'state' | 'strategy' | 'fast'>;

const icons: Record<RolloutAction, Icon> = {
  pause: IconPlayerPause,
  continue: IconPlayerPlay,
  rollback: IconArrowBackUp,
  fastLane: IconBolt,
};

/** Actions that the rollout's state allows. */
export function actionsOf({ state, strategy, fast }: Omit<Acted, 'id'>): RolloutAction[] {
  const faster: RolloutAction[] = strategy.type === 'allAtOnce' || fast ? [] : ['fastLane'];
  if (state === 'waiting') return ['rollback'];
  if (state === 'running') return [...faster, 'rollback', 'pause'];
  if (state === 'paused') return [...faster, 'rollback', 'continue'];
  return [];
}

export function RolloutActions({ rollout }: { rollout: Acted }) {
  const t = useT();
  const can = useCan();
  const ask = useAsk();
  if (!can(rollouts.act)) return null;
  return actionsOf(rollout).map((action) => {
    const Mark = icons[action];
    return (
      <Button
        // Keyboard focus moves from Pause to Continue.
        key={action === 'continue' ? 'pause' : action}
        variant={action === 'continue' ? 'filled' : 'default'}
        {...(action === 'rollback' && { className: classes['danger'] ?? '' })}
        leftSection={<Mark size={15} stroke={1.6} />}
        onClick={() => ask(rollout, action)}
      >
        {t(`rollouts.actions.${action}`)}
      </Button>
    );
  });
}

/** Shows the effect of an action and asks for a reason, which is stored with the user's name. */
export function useAsk() {
  const overlay = useOverlay();
  return ({ id }: Pick<Rollout, 'id'>, action: RolloutAction) =>
    overlay(<AskForm id={id} action={action} />, { title: `rollouts.actions.${action}` });
}

function AskForm({ id, action }: { id: string; action: RolloutAction }) {
  const t = useT();
  return (
    <ResourceForm
      create={rollouts.act}
      params={{ id, action }}
      schema={RolloutActionInput}
      submitLabel={`rollouts.actions.${action}`}
      done={`rollouts.done.${action}`}
    >
      <p className={classes['ask']}>{t(`rollouts.asks.${action}`)}</p>
      <TextField name="reason" />
    </ResourceForm>
  );
}
