import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, type RefObject } from 'react';
import { usePreferences } from '../../stores/preferences.ts';
import type { Line } from './lines.ts';
import type { Identified } from './page-of-rows.ts';

/** Above this number of lines, only the visible ones are rendered. */
const VIRTUAL_FROM = 200;

interface VirtualLines<Row> {
  isVirtual: boolean;
  rendered: readonly Line<Row>[];
  /** Height of the lines above and below, in pixels. */
  before: number;
  after: number;
}

/** The lines to render in a scrolling table. Scrolls to a new row. */
export function useVirtualLines<Row extends Identified>(
  lines: readonly Line<Row>[],
  scroller: RefObject<HTMLElement | null>,
  newIDs: readonly string[],
): VirtualLines<Row> {
  const isVirtual = lines.length > VIRTUAL_FROM;
  const rowHeight = usePreferences(({ density }) => (density === 'roomy' ? 44 : 36));
  // oxlint-disable-next-line react/incompatible-library -- its values are used only in this render
  const virtualizer = useVirtualizer({
    count: isVirtual ? lines.length : 0,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (lines[index]?.kind === 'group' ? 32 : rowHeight),
    overscan: 12,
  });
  const newLine = lines.findIndex((line) => line.kind === 'row' && newIDs.includes(line.row.id));
  useEffect(() => {
    if (isVirtual && newLine >= 0) virtualizer.scrollToIndex(newLine, { align: 'center' });
  }, [isVirtual, virtualizer, newLine]);
  if (!isVirtual) return { isVirtual, rendered: lines, before: 0, after: 0 };
  const items = virtualizer.getVirtualItems();
  return {
    isVirtual,
    rendered: items.flatMap(({ index }) => lines[index] ?? []),
    before: items[0]?.start ?? 0,
    after: virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0),
  };
}
