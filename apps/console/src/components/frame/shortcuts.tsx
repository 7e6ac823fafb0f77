// Global shortcuts. Shortcuts of rows are in resource-table/grid-row.tsx.
import { useEffect, type ComponentType } from 'react';
import { useNavigate } from 'react-router-dom';
import { to } from '../../lib/family.ts';
import { queries } from '../../lib/queries.ts';
import { useCan } from '../../lib/use-can.ts';
import { useKeyPairs, useLetterKeys } from '../../lib/use-letter-keys.ts';
import { summon, usePalette } from '../../stores/palette.ts';
import type { MenuGroup, SiteViewGroup } from './menu.ts';
import type { SiteInfo } from './site-scope.ts';

/** Overlays that load on first use. */
export interface Summonable {
  Palette: ComponentType<{
    menu: readonly MenuGroup[];
    views: readonly SiteViewGroup[];
    site: SiteInfo | null;
    onClose: () => void;
  }>;
  Keys: ComponentType<{ menu: readonly MenuGroup[]; onClose: () => void }>;
}
interface ShortcutsProps {
  menu: readonly MenuGroup[];
  views: readonly SiteViewGroup[];
  site: SiteInfo | null;
  over: Summonable;
}

const inPage = (selector: string) => document.querySelector<HTMLElement>(`main ${selector}`);

/** Moves focus to the next, previous or first row. */
function toRow(by: 1 | -1) {
  const rows = [...document.querySelectorAll<HTMLElement>('main tbody tr[tabindex]')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)]?.focus();
}

export function Shortcuts({ menu, views, site, over: { Palette, Keys } }: ShortcutsProps) {
  const can = useCan();
  const navigate = useNavigate();
  const shown = usePalette((state) => state.shown);
  const entries = menu
    .flatMap((group) => group.entries)
    .filter(({ reads }) => reads === undefined || can(reads))
    .flatMap(({ key, to: path }) => (key ? [[key, () => void navigate(to(path))] as const] : []));

  useKeyPairs('g', Object.fromEntries(entries));
  useLetterKeys({
    '?': () => summon('keys'),
    '/': () => {
      const search = inPage('input[type="search"]');
      if (search) search.focus();
      else summon('palette');
    },
    c: () => inPage('[data-main-action]')?.click(),
    r: () => void queries.refetchQueries({ type: 'active' }),
    f: () => inPage('[data-add-filter]')?.click(),
    a: () => inPage('thead input[type="checkbox"]')?.click(),
    j: () => toRow(1),
    k: () => toRow(-1),
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
      // Browsers focus their own search field otherwise.
      event.preventDefault();
      summon(usePalette.getState().shown === 'palette' ? null : 'palette');
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
      usePalette.setState({ shown: null, creating: null });
    };
  }, []);

  const close = () => summon(null);
  return (
    <>
      {shown === 'palette' && <Palette menu={menu} views={views} site={site} onClose={close} />}
      {shown === 'keys' && <Keys menu={menu} onClose={close} />}
    </>
  );
}
