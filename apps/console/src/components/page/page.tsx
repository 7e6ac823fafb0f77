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

interface Tab {
  value: string;
  label: Word;
  count?: number | undefined;
}

interface PageProps {
  title: Word;
  /** Name of the object, shown instead of the title. */
  name?: string | undefined;
  /** Status mark before the name. */
  mark?: ReactNode;
  /** Up to three pills, and the copyable address. */
  facts?: ReactNode;
  count?: ReactNode;
  /** Form of the main action, opened in a drawer. */
  create?: ReactElement;
  createLabel?: Word;
  /** Endpoint of the main action. Without its permission the button is hidden. */
  creates?: Pick<Endpoint, 'can'>;
  /** One secondary action, or all actions when `create` is not given. */
  actions?: ReactNode;
  tabs?: readonly Tab[];
  /** Shows only the head while the object loads. */
  waits?: boolean;
  children: ReactNode;
}

/** An action before those of the page itself: on pages of rules, to simulate a request. */
export const CommonAction = createContext<ReactNode>(null);

const CountContext = createContext<(count: ReactNode) => void>(() => {});
/** Lets a list show its row count in the page head. */
export const useSetCount = () => useContext(CountContext);

const nobody = () => {};

/** The title had focus when the page was replaced by its loaded version; focus moves to the new title. */
let wasAtTitle = false;

/** Head (title, count, main action), tabs and content of a screen. */
export function Page(props: PageProps) {
  const { title, name, mark, facts, create, createLabel, creates, actions, tabs, waits = false, children } = props;
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const common = useContext(CommonAction);
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
  const creating = usePalette((state) => state.creating?.place === whole);
  useEffect(() => {
    if (!creating || waits) return;
    // The create button of an empty list appears together with the list.
    if (pressPending(whole)) return;
    const observer = new MutationObserver(() => pressPending(whole) && observer.disconnect());
    observer.observe(document.body, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [creating, waits, whole]);
  // Navigation cancels the pending form.
  useEffect(() => {
    const { creating: wanted } = usePalette.getState();
    if (wanted !== null && wanted.place !== whole) usePalette.setState({ creating: null });
  }, [whole]);
  useEffect(() => {
    // A form page focuses its first field.
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
    // The head's count does not refer to a list in a tab.
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
          {common}
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

/** Presses the next button of the palette's create command on this page. True if none is left. */
function pressPending(place: string): boolean {
  const { creating } = usePalette.getState();
  if (creating?.place !== place) return true;
  const [next, ...others] = creating.press;
  const button = next === undefined ? null : document.querySelector<HTMLElement>(`${next}:not(:disabled)`);
  if (!button) return false;
  usePalette.setState({ creating: others.length > 0 ? { place, press: others } : null });
  button.focus();
  button.click();
  return others.length === 0;
}

/** `zones.title` → `zones.create`. */
const creatingOf = (title: Word) => title.replace(/\.[^.]+$/, '.create');
const say = (word: string) => tMaybe(word) ?? tMaybe('common.add') ?? word;

/** The tab in the URL, or the first one. */
export function useTab<const Value extends string>(tabs: readonly { value: Value }[]): Value {
  const [search] = useSearchParams();
  const asked = search.get('tab');
  const found = tabs.find(({ value }) => value === asked) ?? tabs[0];
  if (!found) throw new Error('A page with tabs needs one');
  return found.value;
}

/** Links rather than an ARIA tab list, because each tab has its own URL. */
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

/** The view, and the period and the sites of dashboards and of logs. */
const keptInTabs = ['view', 'range', 'site', 'last', 'from', 'to', 'siteIDs'];

/** Switching tabs drops page and filters. */
function withTab(search: URLSearchParams, tab: string) {
  const current = keptInTabs.flatMap((name) => search.getAll(name).map((value) => [name, value]));
  return new URLSearchParams([...current, ['tab', tab]]).toString();
}
