import { palette } from '@edgeloom/contract/palette/palette.endpoints.ts';
import { Modal } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch, IconX } from '@tabler/icons-react';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import type { MenuGroup, SiteViewGroup } from '../../components/frame/menu.ts';
import type { SiteInfo } from '../../components/frame/site-scope.ts';
import { Kbd } from '../../components/values/values.tsx';
import { explain } from '../../lib/errors.ts';
import { family } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { usePhone } from '../../lib/use-phone.ts';
import { entities, FIRST_RESULTS, MAX_RESULTS, ofRequest, ofURL, type Found, type Surroundings } from './entities.ts';
import type { Item, Section } from './item.ts';
import { Lines, optionId } from './lines.tsx';
import { commands, help, pages } from './pages.ts';
import { places } from './places.ts';
import { fits, nearness, readInput, type Asked } from './read-input.ts';
import { recents } from './recent.ts';
import { useTools } from './use-tools.ts';
import classes from './palette.module.css';

export interface PaletteProps {
  menu: readonly MenuGroup[];
  views: readonly SiteViewGroup[];
  site: SiteInfo | null;
  onClose: () => void;
}

/** The query that is sent when typing stops, with its start time. */
interface Question {
  typed: string;
  at: number;
}
const isComposing = (event: Event) => event instanceof InputEvent && event.isComposing;

/** The command palette. */
export function Palette({ menu, views, site, onClose }: PaletteProps) {
  const t = useT();
  const can = useCan();
  const tools = useTools();
  const phone = usePhone();
  const [typed, setTyped] = useState('');
  const [question, setQuestion] = useState<Question>({ typed: '', at: 0 });
  const ask = useDebouncedCallback((text: string) => setQuestion({ typed: text, at: Date.now() }), 120);
  const [kept] = useState(recents);
  const [chosen, setChosen] = useState<string | null>(null);
  const [pageSize, setPageSize] = useState(FIRST_RESULTS);
  const input = useRef<HTMLInputElement>(null);
  const isEnterPending = useRef(false);
  const asked = readInput(typed);
  const { found, error, tookMs, waiting } = useFound(asked, question, pageSize);

  const showMore = (below: string) => {
    setPageSize(Math.min(pageSize * 10, MAX_RESULTS));
    setChosen(below);
  };
  // Showing more results by mouse leaves the input.
  useEffect(() => {
    if (pageSize > FIRST_RESULTS) input.current?.focus();
  }, [pageSize]);
  const around: Surroundings = { t, can, menu, views, tools, pageSize, showMore };
  const sections = sectionsOf(asked, found, around, site, kept);
  const things = sections.flatMap(({ items }) => items);
  const [parent] = (chosen ?? '').split('\n');
  const thing = things.find(({ id }) => id === parent) ?? things[0];
  const shown = withActions(sections, thing, t('palette.doWith', { name: thing?.title ?? '' }));
  const items = shown.flatMap((section) => section.items);
  const active = items.find(({ id }) => id === chosen) ?? items[0];

  const run = (item: Item) => {
    if (!item.staysOpen) onClose();
    void item.run();
  };
  // Enter pressed before the results arrive runs the first result.
  useEffect(() => {
    if (!isEnterPending.current || waiting) return;
    isEnterPending.current = false;
    if (active) run(active);
  });
  const move = (by: number) => {
    const at = active ? items.indexOf(active) : -1;
    setChosen(items[(at + by + items.length) % items.length]?.id ?? null);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    const field = event.currentTarget;
    const firstAction = thing?.actions?.[0];
    const atEnd = field.selectionStart === field.value.length && field.selectionEnd === field.value.length;
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'ArrowRight' && atEnd && thing && firstAction && active === thing)
      setChosen(`${thing.id}\n${firstAction.id}`);
    else if (event.key === 'Enter' && waiting) isEnterPending.current = true;
    else if (event.key === 'Enter' && active) run(active);
    else return;
    event.preventDefault();
  };
  const nothing = asked.text !== '' && !waiting && items.length === 0;
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('palette.title')}
      withCloseButton={false}
      fullScreen={phone}
      size={640}
      yOffset={100}
      padding={0}
      classNames={{ header: 'hidden-text', content: classes['content'] ?? '', body: classes['body'] ?? '' }}
    >
      <div className={classes['head']}>
        <IconSearch size={18} stroke={1.6} aria-hidden />
        <input
          ref={input}
          id="palette-input"
          className={classes['input']}
          role="combobox"
          aria-expanded={items.length > 0}
          aria-controls="palette-lines"
          aria-autocomplete="list"
          aria-activedescendant={active ? optionId(items.indexOf(active)) : undefined}
          aria-label={t('palette.title')}
          placeholder={t(`palette.placeholder.${family}`)}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          data-autofocus
          maxLength={2048}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setChosen(null);
            setPageSize(FIRST_RESULTS);
            isEnterPending.current = false;
            // Wait for the end of IME composition.
            if (!isComposing(event.nativeEvent)) ask(event.currentTarget.value);
          }}
          onCompositionEnd={(event) => ask(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <button type="button" className={classes['close']} onClick={onClose}>
          {phone ? <IconX size={18} stroke={1.6} aria-hidden /> : <Kbd>Esc</Kbd>}
          <span className="hidden-text"> {t('common.close')}</span>
        </button>
      </div>
      <Lines sections={shown} active={active} text={asked.text} onRun={run} />
      {error && <p className={classes['note']}>{explain(error).text}</p>}
      {nothing && !error && <p className={classes['note']}>{t('palette.nothing', { text: asked.text })}</p>}
      <footer className={classes['foot']}>
        <span>
          <Kbd>↑</Kbd> <Kbd>↓</Kbd> {t('palette.move')}
        </span>
        <span>
          <Kbd>↵</Kbd> {t('palette.open')}
        </span>
        <span>
          <Kbd>→</Kbd> {t('palette.actions')}
        </span>
        <span>
          <Kbd>{'>'}</Kbd> {t('palette.commandsOnly')}
        </span>
        {family === 'client' && (
          <span>
            <Kbd>@</Kbd> {t('palette.nodesOnly')}
          </span>
        )}
        <output className={classes['took']}>
          {tookMs !== null && `${tookMs} ms`}
          <span className="hidden-text">{t('palette.count', { count: items.length })}</span>
        </output>
      </footer>
    </Modal>
  );
}

const searched: readonly Asked['kind'][] = ['any', 'nodes', 'tags', 'url', 'address'];

/** Late responses are dropped; the previous result stays until the next one. */
function useFound(asked: Asked, { typed, at }: Question, pageSize: number) {
  const question = readInput(typed);
  const { kind, text } = question;
  const only = kind === 'nodes' || kind === 'tags' ? kind : undefined;
  const isSearch = searched.includes(asked.kind) && asked.text !== '';
  const same = kind === asked.kind && text === asked.text;
  const result = useEndpoint(
    palette.search,
    { query: { text: text.slice(0, 256), ...(only && { only }), ...(pageSize > FIRST_RESULTS && { pageSize }) } },
    { enabled: isSearch && same },
  );
  const waiting = isSearch && (!same || result.loading || result.refreshing);
  return {
    found: isSearch ? result.data : undefined,
    error: isSearch ? result.error : null,
    waiting,
    tookMs: isSearch && !waiting ? Math.max(0, result.at - at) : null,
  };
}

function sectionsOf(
  asked: Asked,
  found: Found | undefined,
  around: Surroundings,
  site: SiteInfo | null,
  kept: ReturnType<typeof recents>,
): Section[] {
  const { t, tools } = around;
  const { kind, text } = asked;
  const fitting = (id: string, title: string, items: readonly Item[]): Section[] => {
    const fit = text === '' ? items : items.filter((item) => fits(item, text));
    return fit.length > 0 ? [{ id, title, items: fit }] : [];
  };
  if (kind === 'commands')
    return ranked(fitting('commands', t('palette.commands'), [...commands(around, site), ...help(around)]), text);
  if (kind === 'request') return ofRequest(text, around);
  const things = found ? entities(found, asked, around) : [];
  if (kind === 'url') return [...(found ? ofURL(asked, found, around) : []), ...things];
  if (kind !== 'any') return ranked(things, text);
  if (text === '') {
    const recent = kept.map(({ title, detail, to }) => ({
      id: `recent ${to}`,
      title,
      detail,
      run: () => tools.go({ title, detail, to }),
    }));
    return [
      ...fitting('recent', t('palette.recent'), recent),
      ...fitting('pages', t('palette.pages'), pages(around, site)),
    ];
  }
  return ranked(
    [
      ...things,
      ...fitting('pages', t('palette.pages'), [...pages(around, site), ...places(around, site)]),
      ...fitting('commands', t('palette.commands'), commands(around, site)),
      ...fitting('help', t('palette.help'), help(around)),
    ],
    text,
  );
}

/** Sections by match quality: objects whose name starts with the text come before pages that contain it. */
const ofThings = [0, 2, 3, 6, 8] as const;
const ofOthers = [1, 4, 5, 7, 8] as const;

function ranked(sections: readonly Section[], text: string): Section[] {
  const place = (item: Item) => (item.actions ? ofThings : ofOthers)[nearness(item, text)] ?? 8;
  const sorted = sections.map((section) => ({
    ...section,
    items: section.items.toSorted((a, b) => place(a) - place(b)),
  }));
  const best = ({ items: [first] }: Section) => (first ? place(first) : 8);
  return sorted.toSorted((a, b) => best(a) - best(b));
}

/** Inserts the selected object's actions below its section. */
function withActions(sections: readonly Section[], thing: Item | undefined, title: string): Section[] {
  if (!thing?.actions?.length) return [...sections];
  const last = sections.findLastIndex(({ items }) => items.some(({ actions }) => actions !== undefined));
  const items = thing.actions.map((action) => ({ ...action, id: `${thing.id}\n${action.id}` }));
  return sections.toSpliced(last + 1, 0, { id: 'actions', title, items });
}
