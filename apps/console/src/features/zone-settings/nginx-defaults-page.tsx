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
          found.part === part && <Snippet key={`${part} ${found.content}`} part={part} content={found.content} />
        }
      </Await>
    </Page>
  );
}

function Snippet({ part, content }: { part: SnippetPart; content: string }) {
  const t = useT();
  const can = useCan();
  const [text, setText] = useState(content);
  const [begun, setBegun] = useState(0);
  const save = useAction(nginxDefaults.set, { done: 'common.saved' });
  const name = t(`zoneSettings.fields.${part}`);
  return (
    <>
      <div className={classes['editor']}>
        <CodeEditor
          key={begun}
          value={content}
          label={name}
          readOnly={!can(nginxDefaults.set)}
          judge={(written) => snippetFaults(part, written).map((fault) => ({ ...fault, message: faultText(t, fault) }))}
          onChange={setText}
        />
      </div>
      <SaveBar
        changes={text === content ? [] : [name]}
        saving={save.running}
        saveLabel="common.save"
        onSave={() => void save.run({ params: { part }, body: { content: text } })}
        onDiscard={() => {
          setText(content);
          setBegun(begun + 1);
        }}
      />
      <LeaveGuard when={text !== content} />
    </>
  );
}
