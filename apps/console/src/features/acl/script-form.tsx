import type { Received } from '@edgeloom/contract/endpoint.ts';
import { scriptActions, scriptFields, scriptFunctions } from '@edgeloom/contract/lua-acl/language.ts';
import { luaAcls } from '@edgeloom/contract/lua-acl/lua-acl.endpoints.ts';
import { LuaAclInput } from '@edgeloom/contract/lua-acl/lua-acl.ts';
import { scriptError } from '@edgeloom/contract/lua-acl/parser.ts';
import { CodeEditor } from '../../components/code-editor/code-editor.tsx';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { useT } from '../../lib/i18n.ts';
import { ModuleForm } from '../modules/module-form.tsx';
import classes from './acl.module.css';

type LuaAcl = Received<typeof luaAcls.list>['data'][number];

const EXAMPLE = `if startsWith(request.path, "/admin") and not ipIn("192.0.2.0/24") then
  return deny()
end
`;

export function ScriptForm({ siteId, value }: { siteId: string; value: LuaAcl | undefined }) {
  return (
    <ModuleForm
      kind="luaAcl"
      endpoints={luaAcls}
      siteId={siteId}
      value={value}
      initial={{ script: EXAMPLE }}
      schema={LuaAclInput}
    >
      <ScriptField />
      <ChoiceField name="limitMode" />
      <SwitchField name="monitor" />
    </ModuleForm>
  );
}

function ScriptField() {
  const t = useT();
  const { value, set, input } = useField('script');
  const script = typeof value === 'string' ? value : '';
  const faults = (text: string) => {
    const error = scriptError(text);
    return error ? [{ ...error.at, message: t(`luaAcls.errors.${error.code}`, { subject: error.subject }) }] : [];
  };
  const [fault] = faults(script);
  return (
    <div>
      <span className={classes['label']}>{input.label}</span>
      <div className={classes['script']}>
        <CodeEditor language="lua" value={script} label={input.label} judge={faults} onChange={set} />
      </div>
      {fault && (
        <p role="alert" className={classes['fault']}>
          {t('luaAcls.fault', { line: fault.line, column: fault.column, message: fault.message })}
        </p>
      )}
      <details className={classes['hint']}>
        <summary>{t('luaAcls.language')}</summary>
        <p>{scriptFields.map((field) => `request.${field}`).join(' ')}</p>
        <p>
          {Object.keys(scriptFunctions)
            .map((name) => `${name}()`)
            .join(' ')}
        </p>
        <p>{scriptActions.map((name) => `return ${name}()`).join(' ')}</p>
      </details>
    </div>
  );
}
