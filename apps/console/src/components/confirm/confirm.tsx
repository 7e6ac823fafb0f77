import { Button, Modal, TextInput } from '@mantine/core';
import { createContext, useCallback, useContext, useRef, useState, type ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
import { useFocusBack } from '../overlay/focus-back.ts';
import { Phrase } from '../phrase/phrase.tsx';
import classes from './confirm.module.css';

export interface Danger {
  /** The question, with number and noun: "Remove 4 domains?" */
  title: string;
  /** Consequences. */
  points?: readonly ReactNode[];
  /** The verb with its object: "Remove 4 domains". */
  verb: string;
  /** Text to type, required when traffic is affected or more than ten rows are. */
  type?: string | undefined;
  /** A preview without warning colours. */
  calm?: boolean;
}
type Ask = (danger: Danger) => Promise<boolean>;

const ConfirmContext = createContext<Ask>(() => Promise.resolve(false));
/** `if (await confirm({ title, points, verb })) …`. Focus starts on "Keep". */
export const useConfirm = () => useContext(ConfirmContext);

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const [danger, setDanger] = useState<Danger | null>(null);
  const [opened, setOpened] = useState(false);
  const answer = useRef<(sure: boolean) => void>(() => {});
  const { remember, giveBack } = useFocusBack();
  const ask = useCallback<Ask>(
    (asked) => {
      remember();
      setDanger(asked);
      setOpened(true);
      return new Promise<boolean>((resolve) => (answer.current = resolve));
    },
    [remember],
  );
  const settle = (sure: boolean) => {
    setOpened(false);
    answer.current(sure);
  };
  return (
    <ConfirmContext value={ask}>
      {children}
      {/* The content outlives `opened` by the closing motion. */}
      <Modal
        opened={opened}
        onClose={() => settle(false)}
        onExitTransitionEnd={giveBack}
        title={danger?.title}
        centered
        withCloseButton={false}
        zIndex={310}
      >
        {danger && <ConfirmDanger {...danger} onKeep={() => settle(false)} onSure={() => settle(true)} />}
      </Modal>
    </ConfirmContext>
  );
}

interface ConfirmProps extends Omit<Danger, 'title'> {
  onKeep: () => void;
  onSure: () => void;
}

function ConfirmDanger({ points = [], verb, type, calm = false, onKeep, onSure }: ConfirmProps) {
  const t = useT();
  const [typed, setTyped] = useState('');
  const ready = type === undefined || typed.trim() === type;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) onSure();
      }}
    >
      <ul className={classes['points']}>
        {points.map((point, i) => (
          <li key={i}>{point}</li>
        ))}
      </ul>
      {type !== undefined && (
        <TextInput
          label={<Phrase word="shared.confirm.type" values={{ text: type }} />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      <div className="dialog-buttons">
        <Button variant="default" onClick={onKeep} data-autofocus>
          {t(calm ? 'common.cancel' : 'common.keep')}
        </Button>
        <Button type="submit" {...(!calm && { color: 'red' })} disabled={!ready}>
          {verb}
        </Button>
      </div>
    </form>
  );
}
