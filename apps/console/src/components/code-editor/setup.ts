// Shared setup of both editors. They live in a shadow root, where CodeMirror adopts style sheets; style elements would
// violate the CSP.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { lua } from '@codemirror/legacy-modes/mode/lua';
import { nginx } from '@codemirror/legacy-modes/mode/nginx';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { t } from '../../lib/i18n.ts';

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.definitionKeyword, tags.propertyName], color: 'var(--el-accent-text)' },
  { tag: tags.comment, color: 'var(--el-text-3)' },
  { tag: [tags.string, tags.variableName, tags.atom], color: 'var(--el-text)' },
]);

const look = EditorView.theme({
  '&': { color: 'var(--el-text)', backgroundColor: 'var(--el-surface)', fontSize: '12.5px', height: '100%' },
  // The focus ring is drawn around the whole field.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--el-mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--el-text)' },
  '.cm-gutters': { backgroundColor: 'var(--el-sunken)', color: 'var(--el-text-3)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--el-text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--el-selected)',
  },
  '.cm-changedLine': { backgroundColor: 'var(--el-ok-soft) !important' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--el-bad-soft) !important' },
  '.cm-changedText': { background: 'var(--el-ok-soft) !important', fontWeight: '600' },
  '&.cm-merge-a .cm-changedText, .cm-deletedText': { background: 'var(--el-bad-soft) !important', fontWeight: '600' },
  '.cm-tooltip': { backgroundColor: 'var(--el-raised)', color: 'var(--el-text)', border: '1px solid var(--el-line)' },
  '.cm-lintRange-error': { textDecoration: 'underline wavy var(--el-bad)', backgroundImage: 'none !important' },
  '.cm-collapsedLines': { background: 'var(--el-sunken)', color: 'var(--el-text-3)' },
  // Few fonts have CodeMirror's default character.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: "'⋯' !important" },
});

const modes = { lua, nginx };
export type Language = keyof typeof modes;

export const setup = (label: string, readOnly: boolean, language: Language = 'nginx'): Extension => [
  lineNumbers(),
  history(),
  // Tab leaves the editor, as in other fields.
  keymap.of([...defaultKeymap, ...historyKeymap]),
  StreamLanguage.define(modes[language]),
  syntaxHighlighting(colours),
  look,
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ 'aria-label': label, ...(readOnly && { tabindex: '0' }) }),
  EditorState.phrases.of({ '$ unchanged lines': t('common.form.unchangedLines') }),
  EditorState.readOnly.of(readOnly),
  EditorView.editable.of(!readOnly),
];

export const shadowOf = (host: HTMLElement): ShadowRoot => host.shadowRoot ?? host.attachShadow({ mode: 'open' });
