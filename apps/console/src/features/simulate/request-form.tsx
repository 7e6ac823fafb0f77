import { SimulateInput } from '@edgeloom/contract/simulate/simulate.ts';
import { Autocomplete, Button, NumberInput, Select, Textarea, TextInput, type AutocompleteProps } from '@mantine/core';
import { useState, type ClipboardEvent } from 'react';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { choicesOf, fieldOf } from '../../lib/schema.ts';
import { PasteError } from './paste-error.ts';
import { draftOf, isPastedRequest } from './pasted-request.ts';
import { headersOf, presets, type RequestDraft } from './request-draft.ts';
import classes from './simulate.module.css';

interface RequestFormProps {
  draft: RequestDraft;
  onChange: (change: Partial<RequestDraft>) => void;
  /** Names of the site's domains. */
  names: readonly string[];
  /** Number of further domains that match the URL. */
  more: number;
  /** Available nodes, known after the first response. */
  nodes: readonly { id: string; name: string }[];
  /** Server errors by field. */
  fieldErrors: ReadonlyMap<string, string>;
  busy: boolean;
  onSubmit: () => void;
}

const methods = choicesOf(fieldOf(SimulateInput, 'method')).map(String);
const mono = { input: { fontFamily: 'var(--el-mono)', fontSize: 12 } };

export function RequestForm({ draft, onChange, names, more, nodes, fieldErrors, busy, onSubmit }: RequestFormProps) {
  const t = useT();
  const [tried, setTried] = useState(false);
  const [pasteError, setPasteError] = useState<PasteError | null>(null);
  const serverError = (field: string) =>
    [...fieldErrors].find(([path]) => path === field || path.startsWith(`${field}.`))?.[1] ?? null;
  const lineError = (text: string, field: string) => {
    const { invalidLine } = headersOf(text);
    if (invalidLine !== null) return t('simulate.line', { line: invalidLine });
    return serverError(field);
  };
  const headersError = lineError(draft.headers, 'headers');
  const answerHeadersError = lineError(draft.answerHeaders, 'answer.headers');
  const formatError = tried && !urlFits(draft.url) ? t('errors.messages.wrong format') : null;
  const urlError = pasteError
    ? t(`simulate.paste.${pasteError.reason}`, { subject: pasteError.subject })
    : (fieldErrors.get('url') ?? formatError);
  const fillIn = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text');
    if (!isPastedRequest(text)) return;
    event.preventDefault();
    try {
      onChange(draftOf(text));
      setPasteError(null);
    } catch (error) {
      if (!(error instanceof PasteError)) throw error;
      setPasteError(error);
    }
  };
  return (
    <form
      noValidate
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (urlFits(draft.url) && headersOf(draft.headers).invalidLine === null && answerHeadersError === null)
          onSubmit();
      }}
    >
      <div className={classes['line']}>
        <Select
          label={t('simulate.fields.method')}
          data={methods}
          value={draft.method}
          allowDeselect={false}
          onChange={(method) => onChange({ method: SimulateInput.shape.method.parse(method ?? undefined) })}
        />
        <Autocomplete
          label={t('simulate.fields.url')}
          description={t('simulate.hints.url')}
          onPaste={fillIn}
          data={[
            ...names.filter((name) => !name.startsWith('*.')).map((name) => `https://${name}/`),
            ...(more > 0 ? [{ value: t('common.form.searchMore', { more: count(more) }), disabled: true }] : []),
          ]}
          filter={({ options, search }) => options.filter((option) => fits(option, search))}
          value={draft.url}
          onChange={(text) => {
            setPasteError(null);
            onChange({ url: text });
          }}
          error={urlError}
          placeholder="https://www.example.com/img/a.png"
          spellCheck={false}
          styles={mono}
          classNames={{ option: classes['name'] ?? '' }}
          required
        />
        <Button type="submit" loading={busy}>
          {t('simulate.run')}
        </Button>
      </div>
      <div className={classes['presets']}>
        {t('simulate.presets.title')}
        {(['browser', 'curl', 'crawler'] as const).map((preset) => (
          <Button
            key={preset}
            variant="default"
            size="compact-xs"
            onClick={() => onChange({ headers: presets[preset] })}
          >
            {t(`simulate.presets.${preset}`)}
          </Button>
        ))}
      </div>
      <Textarea
        label={t('simulate.fields.headers')}
        description={t('simulate.hints.headers')}
        value={draft.headers}
        onChange={(event) => onChange({ headers: event.currentTarget.value })}
        error={headersError}
        spellCheck={false}
        styles={mono}
        autosize
        minRows={2}
        maxRows={10}
      />
      {(draft.body !== '' || !['GET', 'HEAD'].includes(draft.method)) && (
        <Textarea
          label={t('simulate.fields.body')}
          description={t('simulate.hints.body')}
          value={draft.body}
          onChange={(event) => onChange({ body: event.currentTarget.value })}
          error={serverError('body')}
          spellCheck={false}
          styles={mono}
          autosize
          minRows={2}
          maxRows={10}
        />
      )}
      <div className={classes['pair']}>
        <TextInput
          label={t('simulate.fields.ip')}
          description={t('simulate.hints.ip')}
          value={draft.ip}
          onChange={(event) => onChange({ ip: event.currentTarget.value })}
          error={fieldErrors.get('ip') ?? null}
          placeholder="203.0.113.7"
          spellCheck={false}
        />
        <Select
          label={t('simulate.fields.nodeID')}
          description={t('simulate.hints.nodeID')}
          data={[
            { value: '', label: t('simulate.anyNode') },
            ...nodes.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={draft.nodeID}
          allowDeselect={false}
          onChange={(nodeID) => onChange({ nodeID: nodeID ?? '' })}
          error={fieldErrors.get('nodeID') ?? null}
        />
      </div>
      <details className={classes['more']}>
        <summary>{t('simulate.origin')}</summary>
        <div className={classes['pair']}>
          <NumberInput
            label={t('simulate.fields.status')}
            description={t('simulate.hints.answer')}
            value={draft.status}
            onChange={(status) => onChange({ status: typeof status === 'number' ? status : '' })}
            error={fieldErrors.get('answer.status') ?? null}
            allowDecimal={false}
            hideControls
          />
          <Textarea
            label={t('simulate.fields.answerHeaders')}
            description={t('simulate.hints.headers')}
            value={draft.answerHeaders}
            onChange={(event) => onChange({ answerHeaders: event.currentTarget.value })}
            error={answerHeadersError}
            spellCheck={false}
            styles={mono}
            autosize
            minRows={2}
            maxRows={10}
          />
        </div>
      </details>
    </form>
  );
}

/** The server has searched for the host. The rest of the URL is compared here. */
const fits = (option: Option, search: string) =>
  'group' in option || option.disabled === true || option.value.includes(search.trim().toLowerCase());
type Option = Parameters<NonNullable<AutocompleteProps['filter']>>[0]['options'][number];

const urlFits = (url: string) => SimulateInput.shape.url.safeParse(url).success;
