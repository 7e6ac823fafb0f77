import { oidcSetting } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useSession } from '../../stores/session.ts';

/** The OIDC provider of the operator's accounts. */
export function OidcSettingForm() {
  return (
    <Await result={useEndpoint(oidcSetting.get)}>
      {(value) => (
        <ResourceForm
          update={oidcSetting.update}
          value={value ?? { enabled: false, issuer: '', oidcClientId: '', buttonText: '' }}
        >
          <Section title="oidcSetting.provider" why="oidcSetting.providerWhy">
            <SwitchField name="enabled" />
            <TextField name="issuer" />
            <TextField name="oidcClientId" />
            <PasswordField name="secret" fresh />
          </Section>
          <Section title="oidcSetting.button" why="oidcSetting.buttonWhy">
            <TextField name="buttonText" />
          </Section>
          {value && (
            <Section title="oidcSetting.redirects" why="oidcSetting.redirectsWhy">
              {value.redirectURIs.map((uri) => (
                <Copy key={uri} text={uri} />
              ))}
            </Section>
          )}
          <Links />
        </ResourceForm>
      )}
    </Await>
  );
}

/** Sign-in links for installations where several operators share a host name. */
function Links() {
  const t = useT();
  const client = useSession(({ account }) => account?.clientID ?? null);
  if (client === null) return null;
  return (
    <Section title="oidcSetting.links" why="oidcSetting.linksWhy">
      {(['user', 'client'] as const).map((kind) => (
        <span key={kind}>
          {t(`app.console.${kind}`)}
          <br />
          <Copy text={`${location.origin}/${kind}/login?client=${client}`} />
        </span>
      ))}
    </Section>
  );
}
