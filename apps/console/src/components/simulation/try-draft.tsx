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
  const [errorText, setErrorText] = useState<string | null>(null);
  const { run, running } = useAction(simulate.run, { quiet: true });
  async function runSimulation() {
    setSimulation(null);
    if (!SimulateInput.shape.url.safeParse(url).success) return setErrorText(t('errors.messages.wrong format'));
    setErrorText(null);
    try {
      setSimulation(await run({ params: { siteId: siteOf(planned) }, body: { url, draft: callsOf(planned) } }));
    } catch (error) {
      const [first] = fieldErrorsOf(error);
      setErrorText(first ? ruleText(first.rule, first.message) : explain(error).text);
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
          void runSimulation();
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
        {errorText !== null && <p role="alert">{errorText}</p>}
        {simulation !== null && <SimulationView simulation={simulation} />}
      </form>
    </details>
  );
}
