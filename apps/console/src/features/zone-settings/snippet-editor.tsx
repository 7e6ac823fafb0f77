import {
  allowedNames,
  snippetFaults,
  snippetParts,
  type SnippetPart,
} from '@edgeloom/contract/zone-settings/directive-allowlist.ts';
import { SegmentedControl } from '@mantine/core';
import { CodeEditor } from '../../components/code-editor/code-editor.tsx';
import { useT } from '../../lib/i18n.ts';
import { faultText } from './in-words.ts';
import classes from './zone-settings.module.css';

export function PartChoice({ part, onChange }: { part: SnippetPart; onChange: (part: SnippetPart) => void }) {
  const t = useT();
  return (
    <SegmentedControl
      aria-label={t('zoneSettings.part')}
      data={snippetParts.map((name) => ({ value: name, label: t(`zoneSettings.fields.${name}`) }))}
      value={part}
      onChange={onChange}
    />
  );
}

interface SnippetEditorProps {
  part: SnippetPart;
  value: string;
  readOnly: boolean;
  onChange: (text: string) => void;
}

/** Editor of one nginx snippet, with its purpose and allowed directives. */
export function SnippetEditor({ part, value, readOnly, onChange }: SnippetEditorProps) {
  const t = useT();
  return (
    <>
      <p className={classes['quiet']}>{t(`zoneSettings.partHints.${part}`)}</p>
      <CodeEditor
        value={value}
        label={t(`zoneSettings.fields.${part}`)}
        readOnly={readOnly}
        judge={(text) => snippetFaults(part, text).map((fault) => ({ ...fault, message: faultText(t, fault) }))}
        onChange={onChange}
      />
      <details className={classes['allowed']}>
        <summary>{t('zoneSettings.allowed')}</summary>
        <p>{allowedNames(part).join(' ')}</p>
      </details>
    </>
  );
}
