import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import {
  createContext,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type ReactElement,
  type ReactNode,
} from 'react';
import { Link, useLocation, useSearchParams } from 'react-router-dom';
import { tMaybe, useT, type Word } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { intoView } from '../../lib/into-view.ts';
import { placeOf, usePalette } from '../../stores/palette.ts';
import { useOverlay } from '../overlay/overlay.tsx';
import { reader, usePlace } from './place.ts';
import classes from './page.module.css';

export interface Tab {
  value: string;
  label: Word;
  count?: number | undefined;
}

interface PageProps {
  title: Word;
  /** Of one thing's page: its name, shown instead of the title. */
  name?: string | undefined;
  /** State mark before the name. */
  mark?: ReactNode;
  /** Up to three facts as pills, and the copyable address. */
  facts?: ReactNode;
  count?: ReactNode;
  /** The form of the main action, opened in a drawer. */
  create?: ReactElement;
  createLabel?: Word;
  /** The call behind the main action; who may not make it does not see the button. */
  creates?: Pick<Endpoint, 'can'>;
  /** At most one more, beside the main one; or all of them, when `create` is not given. */
  actions?: ReactNode;
  tabs?: readonly Tab[];
  /** Only a head so far: what it is of has been asked for. */
  waits?: boolean;
  children: ReactNode;
}

const CountContext = createContext<(count: ReactNode) => void>(() => {});
/** A list tells the head how many there are. */
export const useSetCount = () => useContext(CountContext);

const nobody = () => {};

/** The page's title had the focus when it went: another takes its place when what was asked for is there. */
let wasAtTitle = false;

/** Head (title, count, one main action), tabs and content of a screen. */
export function Page(props: PageProps) {
  const { title, name, mark, facts, create, createLabel, creates, actions, tabs, waits = false, children } = props;
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const heading = useRef<HTMLHeadingElement>(null);
  const [counted, setCounted] = useState<ReactNode>(null);
  const shown = name ?? t(title);
  const label = createLabel ?? creatingOf(title);

  useEffect(() => {
    usePlace.setState({ title, name: name ?? null });
    return () => usePlace.setState({ title: null, name: null });
  }, [title, name]);
  const { pathname } = useLocation();
  const [search] = useSearchParams();
  const place = `${pathname} ${search.get('view') ?? ''}`;
  const whole = placeOf(`${pathname}?${search}`);
  const creating = usePalette((state) => state.creating === whole);
  useEffect(() => {
    if (!creating || waits) return;
    // The button of a list that is empty comes with the list.
    const press = () => {
      const button = document.querySelector<HTMLElement>('main [data-main-action]:not(:disabled)');
      if (!button || usePalette.getState().creating !== whole) return button !== null;
      usePalette.setState({ creating: null });
      button.click();
      return true;
    };
    if (press()) return;
    const observer = new MutationObserver(() => press() && observer.disconnect());
    observer.observe(document.body, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [creating, waits, whole]);
  // Left for another page: the form is not wanted any more.
  useEffect(() => {
    const { creating: wanted } = usePalette.getState();
    if (wanted !== null && wanted !== whole) usePalette.setState({ creating: null });
  }, [whole]);
  useEffect(() => {
    // A form that is a page of its own starts in its first field.
    const isTyping = document.activeElement?.matches('input, textarea') === true;
    const isMoved = reader.place !== null && reader.place !== place;
    if (!isTyping && (wasAtTitle || isMoved)) heading.current?.focus({ preventScroll: true });
    reader.place = place;
    wasAtTitle = false;
  }, [place]);
  useLayoutEffect(() => {
    const title = heading.current;
    return () => {
      wasAtTitle = title === document.activeElement;
    };
  }, []);

  return (
    // A list under a tab is not what the head names.
    <CountContext value={tabs ? nobody : setCounted}>
      <header className={classes['head']} data-tabs={tabs !== undefined || undefined}>
        <div className={classes['titles']}>
          {mark}
          <h1 ref={heading} tabIndex={-1} className={classes['title']}>
            {shown}
          </h1>
          {(props.count ?? counted) ? <span className={classes['count']}>{props.count ?? counted}</span> : null}
          {facts && <div className={classes['facts']}>{facts}</div>}
        </div>
        <div className={classes['actions']}>
          {actions}
          {create && (creates === undefined || can(creates)) && (
            <Button
              data-main-action
              leftSection={<IconPlus size={15} stroke={1.8} />}
              onClick={() => overlay(create, { title: { text: say(label) } })}
            >
              {say(label)}
            </Button>
          )}
        </div>
      </header>
      {tabs && <Tabs tabs={tabs} />}
      {children}
    </CountContext>
  );
}

/** `zones.title` is created by `zones.create`. */
const creatingOf = (title: Word) => title.replace(/\.[^.]+$/, '.create');
const say = (word: string) => tMaybe(word) ?? tMaybe('common.add') ?? word;

/** The chosen tab; the first one when the address names none. */
export function useTab<const Value extends string>(tabs: readonly { value: Value }[]): Value {
  const [search] = useSearchParams();
  const asked = search.get('tab');
  const found = tabs.find(({ value }) => value === asked) ?? tabs[0];
  if (!found) throw new Error('A page with tabs needs one');
  return found.value;
}

/** Links, not a tab list: each tab is an address of its own. */
function Tabs({ tabs }: { tabs: readonly Tab[] }) {
  const t = useT();
  const [search] = useSearchParams();
  const current = useTab(tabs);
  return (
    <nav className={classes['tabs']} aria-label={t('common.details')}>
      {tabs.map(({ value, label, count }) => (
        <Link
          key={value}
          ref={value === current ? intoView : null}
          to={`?${withTab(search, value)}`}
          className={classes['tab'] ?? ''}
          aria-current={value === current ? 'page' : undefined}
        >
          {t(label)}
          {count !== undefined && <span className={classes['tabCount']}>{count}</span>}
        </Link>
      ))}
    </nav>
  );
}

/** Another tab keeps the view it is in, not the page and filters of the list beside it. */
function withTab(search: URLSearchParams, tab: string) {
  const view = search.get('view');
  return new URLSearchParams({ ...(view && { view }), tab }).toString();
}
