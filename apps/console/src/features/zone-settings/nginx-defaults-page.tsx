import { snippetFaults, snippetParts, type SnippetPart } from '@edgeloom/contract/zone-settings/allowed.ts';
import { nginxDefaults } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { CodeEditor } from '../../components/code-editor/code-editor.tsx';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { Page } from '../../components/page/page.tsx';
import { SaveBar } from '../../components/save-bar/save-bar.tsx';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { faultText } from './in-words.ts';
import classes from './zone-settings.module.css';

/** What nginx snippets new zones begin with. Zones that are there keep their own. */
export function NginxDefaultsPage() {
  const t = useT();
  const [part, setPart] = useState<SnippetPart>('http');
  // Of each part: who looks at another one comes back to what they wrote.
  const [drafts, setDrafts] = useState<ReadonlyMap<SnippetPart, string>>(new Map());
  const kept = useEndpoint(nginxDefaults.get, { params: { part } });
  return (
    <Page title="zoneSettings.defaults">
      <div className={classes['nginx']}>
        <p className={classes['quiet']}>{t('zoneSettings.defaultsWhy')}</p>
        <div className={classes['tools']}>
          <SegmentedControl
            aria-label={t('zoneSettings.part')}
            data={snippetParts.map((name) => ({ value: name, label: t(`zoneSettings.fields.${name}`) }))}
            value={part}
            onChange={setPart}
          />
        </div>
      </div>
      <Await result={kept}>
        {(found) =>
          found.part === part && (
            <Snippet
              key={`${part} ${found.content}`}
              part={part}
              content={found.content}
              draft={drafts.get(part) ?? null}
              onDraft={(text) => {
                const others = [...drafts].filter(([name]) => name !== part);
                setDrafts(new Map(text === null ? others : [...others, [part, text]]));
              }}
            />
          )
        }
      </Await>
      <LeaveGuard when={drafts.size > 0} />
    </Page>
  );
}

interface SnippetProps {
  part: SnippetPart;
  content: string;
  /** Null: as it is kept. */
  draft: string | null;
  onDraft: (text: string | null) => void;
}

function Snippet({ part, content, draft, onDraft }: SnippetProps) {
  const t = useT();
  const can = useCan();
  const [begun, setBegun] = useState(0);
  const save = useAction(nginxDefaults.set, { done: 'common.saved' });
  const name = t(`zoneSettings.fields.${part}`);
  return (
    <>
      <div className={classes['editor']}>
        <CodeEditor
          key={begun}
          value={draft ?? content}
          label={name}
          readOnly={!can(nginxDefaults.set)}
          judge={(written) => snippetFaults(part, written).map((fault) => ({ ...fault, message: faultText(t, fault) }))}
          onChange={(text) => onDraft(text === content ? null : text)}
        />
      </div>
      <SaveBar
        changes={draft === null ? [] : [name]}
        saving={save.running}
        saveLabel="common.save"
        onSave={() =>
          void save
            .run({ params: { part }, body: { content: draft ?? content } })
            .then((reply) => reply && onDraft(null))
        }
        onDiscard={() => {
          onDraft(null);
          setBegun(begun + 1);
        }}
      />
    </>
  );
}
