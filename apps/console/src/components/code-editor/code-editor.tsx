import { linter, type Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import classes from './code-editor.module.css';
import { setup, shadowOf, type Language } from './setup.ts';

interface Fault {
  line: number;
  column: number;
  message: string;
}

interface CodeEditorProps {
  value: string;
  label: string;
  readOnly?: boolean;
  language?: Language;
  /** Validates the text while typing. */
  judge: (text: string) => readonly Fault[];
  onChange: (text: string) => void;
}

/**
 * An editor for code with highlighting and error underlines. Remount with a new key to change the text.
 */
export function CodeEditor({ value, label, readOnly = false, language, judge, onChange }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const begins = useRef(value);
  const latest = useRef({ judge, onChange });
  useEffect(() => {
    latest.current = { judge, onChange };
  });
  useEffect(() => {
    if (host.current === null) return;
    const root = shadowOf(host.current);
    const state = EditorState.create({
      doc: begins.current,
      extensions: [
        setup(label, readOnly, language),
        linter((view) => latest.current.judge(view.state.doc.toString()).map((fault) => shown(view, fault)), {
          delay: 300,
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) latest.current.onChange(update.state.doc.toString());
        }),
      ],
    });
    const view = new EditorView({ state, parent: root, root });
    return () => view.destroy();
  }, [label, readOnly, language]);
  return <div ref={host} className={classes['editor']} data-code={label} />;
}

function shown(view: EditorView, { line, column, message }: Fault): Diagnostic {
  const { from, to, text } = view.state.doc.line(Math.min(line, view.state.doc.lines));
  const start = Math.min(from + column - 1, to);
  const word = /^[^\s;{}]+/.exec(text.slice(start - from))?.[0] ?? '';
  return { from: start, to: Math.max(start + word.length, start), severity: 'error', message };
}
