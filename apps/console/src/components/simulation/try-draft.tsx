import { simulate } from '@edgeloom/contract/simulate/simulate.endpoints.ts';
import { SimulateInput, type Simulation } from '@edgeloom/contract/simulate/simulate.ts';
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { explain, fieldErrorsOf, ruleText } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { callsOf, siteOf, type Planned } from '../../lib/planned.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { SimulationView } from './simulation-view.tsx';
import classes from './simulation.module.css';

/** Simulates a request with these unsaved changes. */
export function TryDraft({ planned }: { planned: readonly Planned[] }) {
  const t = useT();
  const [url, setUrl] = useState('');
  const [simulation, setSimulation] = useState<Simulation | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const { run, running } = useAction(simulate.run, { quiet: true });
  async function ask() {
    setSimulation(null);
    if (!SimulateInput.shape.url.safeParse(url).success) return setFault(t('errors.messages.wrong format'));
    setFault(null);
    try {
      setSimulation(await run({ params: { siteId: siteOf(planned) }, body: { url, draft: callsOf(planned) } }));
    } catch (error) {
      const [first] = fieldErrorsOf(error);
      setFault(first ? ruleText(first.rule, first.message) : explain(error).text);
    }
  }
  return (
    <details className={classes['try']}>
      <summary>{t('simulate.tryDraft')}</summary>
      <form
        noValidate
        className={classes['try']}
        onSubmit={(event) => {
          event.preventDefault();
          event.stopPropagation();
          void ask();
        }}
      >
        <div className={classes['ask']}>
          <TextInput
            label={t('simulate.fields.url')}
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            placeholder="https://www.example.com/img/a.png"
            spellCheck={false}
            autoComplete="off"
          />
          <Button type="submit" variant="default" loading={running}>
            {t('simulate.run')}
          </Button>
        </div>
        {fault !== null && <p role="alert">{fault}</p>}
        {simulation !== null && <SimulationView simulation={simulation} />}
      </form>
    </details>
  );
}
