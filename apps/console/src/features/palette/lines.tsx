/* oxlint-disable jsx-a11y/prefer-tag-over-role -- no HTML element is a listbox whose input keeps the focus */
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Kbd } from '../../components/values/values.tsx';
import type { Item, Section } from './item.ts';
import classes from './palette.module.css';

interface LinesProps {
  sections: readonly Section[];
  active: Item | undefined;
  text: string;
  onRun: (item: Item) => void;
}

export const optionId = (place: number) => `palette-line-${place}`;

/** Results in sections. The input keeps focus and refers to the active item. */
export function Lines({ sections, active, text, onRun }: LinesProps) {
  const places = new Map(sections.flatMap(({ items }) => items).map((item, i) => [item, i]));
  return (
    <div id="palette-lines" role="listbox" aria-labelledby="palette-input" className={classes['lines']}>
      {sections.map(({ id, title, items }) => (
        <div key={id} role="group" aria-labelledby={`palette-section-${id}`}>
          <div id={`palette-section-${id}`} className={classes['section']} role="presentation">
            {title}
          </div>
          {items.map((item) => (
            <Line
              key={item.id}
              item={item}
              place={places.get(item) ?? 0}
              isActive={item === active}
              text={text}
              onRun={onRun}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

const intoView = (line: HTMLElement | null) => line?.scrollIntoView({ block: 'nearest' });

interface LineProps {
  item: Item;
  place: number;
  isActive: boolean;
  text: string;
  onRun: (item: Item) => void;
}

function Line({ item, place, isActive, text, onRun }: LineProps) {
  const { title, detail, icon: Icon, mark, keys } = item;
  return (
    // The search field has the focus and handles the keys.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- see above
    <div
      ref={isActive ? intoView : null}
      id={optionId(place)}
      role="option"
      aria-selected={isActive}
      className={classes['line']}
      onClick={() => onRun(item)}
    >
      <span className={classes['icon']}>
        {mark ? <StatusMark tone={mark.tone} /> : Icon && <Icon size={16} stroke={1.6} aria-hidden />}
      </span>
      <span className={classes['words']}>
        <span className={classes['title']} data-thing={item.actions !== undefined || undefined}>
          <Marked phrase={title} text={text} />
        </span>{' '}
        {detail && <span className={classes['detail']}>{detail}</span>}
      </span>
      <span className={classes['keys']}>
        {keys?.map((key) => (
          <Kbd key={key}>{key}</Kbd>
        ))}
        {isActive && <Kbd>↵</Kbd>}
      </span>
    </div>
  );
}

function Marked({ phrase, text }: { phrase: string; text: string }) {
  const at = text === '' ? -1 : phrase.toLowerCase().indexOf(text.toLowerCase());
  // Some letters change length with their case; then nothing is highlighted.
  if (at < 0 || phrase.toLowerCase().length !== phrase.length) return phrase;
  return (
    <>
      {phrase.slice(0, at)}
      <mark className={classes['mark']}>{phrase.slice(at, at + text.length)}</mark>
      {phrase.slice(at + text.length)}
    </>
  );
}
