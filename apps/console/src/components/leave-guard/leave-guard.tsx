import { Button, Modal } from '@mantine/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useBlocker } from 'react-router-dom';
import { create } from 'zustand';
import { useT } from '../../lib/i18n.ts';
import { useSession } from '../../stores/session.ts';

interface LeaveDialogProps {
  opened: boolean;
  onStay: () => void;
  onLeave: () => void;
}

function LeaveDialog({ opened, onStay, onLeave }: LeaveDialogProps) {
  const t = useT();
  return (
    <Modal
      opened={opened}
      onClose={onStay}
      title={t('common.leave.title')}
      centered
      size="sm"
      zIndex={320}
      withCloseButton={false}
    >
      <p>{t('common.leave.text')}</p>
      <div className="dialog-buttons">
        <Button variant="default" onClick={onStay} data-autofocus>
          {t('common.leave.stay')}
        </Button>
        <Button color="red" onClick={onLeave}>
          {t('common.leave.leave')}
        </Button>
      </div>
    </Modal>
  );
}

/** `await ask()` is true when the reader chooses to lose the changes. */
export function useLeaveDialog() {
  const [opened, setOpened] = useState(false);
  const answer = useRef<(leave: boolean) => void>(() => {});
  const ask = useCallback(() => {
    // Not within the same Escape that asks to leave: this dialog would hear it too, and close again.
    setTimeout(() => setOpened(true));
    return new Promise<boolean>((resolve) => (answer.current = resolve));
  }, []);
  const settle = (leave: boolean) => {
    setOpened(false);
    answer.current(leave);
  };
  const dialog = <LeaveDialog opened={opened} onStay={() => settle(false)} onLeave={() => settle(true)} />;
  return { ask, dialog };
}

type Address = Pick<Location, 'pathname' | 'search'>;
interface Guard {
  /** Addresses where the changes stay. */
  keeps?: ((next: Address) => boolean) | undefined;
}
/** Forms with something to lose, on the page and in its drawers. */
const useUnsaved = create<{ forms: readonly Guard[] }>(() => ({ forms: [] }));

/** A change of route or a closed tab is asked about while this says so. */
export function LeaveGuard({ when, keeps }: { when: boolean } & Guard) {
  useEffect(() => {
    if (!when) return;
    const guard = { keeps };
    useUnsaved.setState(({ forms }) => ({ forms: [...forms, guard] }));
    return () => useUnsaved.setState(({ forms }) => ({ forms: forms.filter((form) => form !== guard) }));
  }, [when, keeps]);
  return null;
}

/** Asks for all guards of the console: the router takes one blocker, and a page may have several forms. */
export const LeaveQuestion = () => (useUnsaved(({ forms }) => forms.length > 0) ? <Question /> : null);

// A blocker that only stands by complains of every step to an anchor, which the router did not make.
function Question() {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      useUnsaved.getState().forms.some(({ keeps }) => !keeps?.(nextLocation)) &&
      // Whoever is signed out has to go; what they typed is kept (lib/drafts.ts).
      useSession.getState().account !== null &&
      (currentLocation.pathname !== nextLocation.pathname || currentLocation.search !== nextLocation.search),
  );
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, []);
  return (
    <LeaveDialog
      opened={blocker.state === 'blocked'}
      onStay={() => blocker.reset?.()}
      onLeave={() => blocker.proceed?.()}
    />
  );
}
