import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import classes from './code-editor.module.css';
import { setup, shadowOf } from './setup.ts';

interface CodeDiffProps {
  before: string;
  after: string;
  /** Accessible names of both texts. */
  labels: readonly [before: string, after: string];
}

const LEAST_FOR_TWO = 560;

/** A diff: side by side, or unified on narrow screens. */
export function CodeDiff({ before, after, labels: [old, now] }: CodeDiffProps) {
  const host = useRef<HTMLDivElement>(null);
  const isWide = useMediaQuery('(min-width: 1024px)') ?? true;
  useEffect(() => {
    if (host.current === null) return;
    const root = shadowOf(host.current);
    // A drawer is too narrow for two columns on any screen.
    if (isWide && host.current.clientWidth >= LEAST_FOR_TWO) {
      const view = new MergeView({
        a: { doc: before, extensions: setup(old, true) },
        b: { doc: after, extensions: setup(now, true) },
        parent: root,
        root,
        collapseUnchanged: { margin: 3, minSize: 6 },
      });
      return () => view.destroy();
    }
    const merge = unifiedMergeView({
      original: before,
      mergeControls: false,
      collapseUnchanged: { margin: 3, minSize: 6 },
    });
    const state = EditorState.create({ doc: after, extensions: [setup(now, true), merge] });
    const view = new EditorView({ state, parent: root, root });
    return () => view.destroy();
  }, [before, after, old, now, isWide]);
  return <div ref={host} className={classes['diff']} data-code={now} />;
}
