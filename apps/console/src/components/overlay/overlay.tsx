import { Drawer } from '@mantine/core';
import {
  createContext,
  useCallback,
  useContext,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
} from 'react';
import { useT, type Word } from '../../lib/i18n.ts';
import { useLeaveDialog } from '../leave-guard/leave-guard.tsx';
import { useFocusBack } from './focus-back.ts';
import { isSaveKey, submitFormIn } from './save-key.ts';
import classes from './overlay.module.css';

interface Shown {
  element: ReactElement;
  title: string;
  wide: boolean;
}
interface OverlayOptions {
  title: Word | { text: string };
  /** 720 px wide instead of 480. */
  wide?: boolean;
}
type Open = (element: ReactElement, options: OverlayOptions) => void;

const OpenContext = createContext<Open>(() => {});
interface Inside {
  close: () => void;
  /** Forms report whether they have unsaved changes. */
  setDirty: (dirty: boolean) => void;
}
const InsideContext = createContext<Inside | null>(null);

export const useOverlay = () => useContext(OpenContext);
/** Null outside of a drawer. */
export const useInsideOverlay = () => useContext(InsideContext);
/** Closes the surrounding drawer; does nothing on a page. */
export const useOverlayClose = () => useInsideOverlay()?.close ?? (() => {});

/** A save bar in the drawer has its own listener. React also calls this for keys in a dialog above the drawer. */
function saveByKey(event: KeyboardEvent<HTMLElement>) {
  const isInside = event.target instanceof Node && event.currentTarget.contains(event.target);
  if (!isInside || !isSaveKey(event) || event.nativeEvent.isComposing) return;
  event.preventDefault();
  submitFormIn(event.currentTarget);
}

/** The console's single drawer. */
export function OverlayProvider({ children }: { children: ReactNode }) {
  const t = useT();
  const [shown, setShown] = useState<Shown | null>(null);
  const dirty = useRef(false);
  const { ask, dialog } = useLeaveDialog();
  const { remember, giveBack } = useFocusBack();
  const open = useCallback<Open>(
    (element, { title, wide = false }) => {
      dirty.current = false;
      remember();
      setShown({ element, title: typeof title === 'string' ? t(title) : title.text, wide });
    },
    [t, remember],
  );
  const inside = useMemo<Inside>(
    () => ({ close: () => setShown(null), setDirty: (is) => void (dirty.current = is) }),
    [],
  );
  const leave = async () => {
    if (!dirty.current || (await ask())) setShown(null);
  };
  return (
    <OpenContext value={open}>
      {children}
      <Drawer
        opened={shown !== null}
        onClose={() => void leave()}
        onExitTransitionEnd={giveBack}
        onKeyDown={saveByKey}
        title={shown?.title}
        size={shown?.wide ? 720 : 480}
        classNames={{ header: classes['header'] ?? '', body: classes['body'] ?? '', content: classes['content'] ?? '' }}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        <InsideContext value={inside}>{shown?.element}</InsideContext>
      </Drawer>
      {dialog}
    </OpenContext>
  );
}
