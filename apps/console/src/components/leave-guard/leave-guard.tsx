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

/** `await ask()` resolves to true when the reader discards the changes. */
export function useLeaveDialog() {
  const [opened, setOpened] = useState(false);
  const answer = useRef<(leave: boolean) => void>(() => {});
  const ask = useCallback(() => {
    // Deferred, because the dialog would also receive the current Escape key and close.
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
/** Forms with unsaved changes, on the page and in its drawers. */
const useUnsaved = create<{ forms: readonly Guard[] }>(() => ({ forms: [] }));

/** Asks before navigation or closing the tab while `when` is true. */
export function LeaveGuard({ when, keeps }: { when: boolean } & Guard) {
  useEffect(() => {
    if (!when) return;
    const guard = { keeps };
    useUnsaved.setState(({ forms }) => ({ forms: [...forms, guard] }));
    return () => useUnsaved.setState(({ forms }) => ({ forms: forms.filter((form) => form !== guard) }));
  }, [when, keeps]);
  return null;
}

/** One blocker for all guards, because the router supports only one. */
export const LeaveQuestion = () => (useUnsaved(({ forms }) => forms.length > 0) ? <Question /> : null);

// Mounted only when needed, because an idle blocker warns about every anchor link.
function Question() {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      useUnsaved.getState().forms.some(({ keeps }) => !keeps?.(nextLocation)) &&
      // A signed-out reader must leave; drafts are kept (lib/drafts.ts).
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
