import type { Received } from '@edgeloom/contract/endpoint.ts';
import { CorsInput, corsMethods } from '@edgeloom/contract/modules/cors.ts';
import { cors } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TagsField } from '../../components/fields/tags-field.tsx';
import { ModuleForm } from './module-form.tsx';

export type Cors = Received<typeof cors.list>['data'][number];

export function CorsForm({ siteId, value }: { siteId: string; value: Cors | undefined }) {
  return (
    <ModuleForm kind="cors" endpoints={cors} siteId={siteId} value={value} schema={CorsInput}>
      <LinesField name="allowOrigins" placeholder="https://app.example.com" rows={3} />
      <TagsField name="allowMethods" suggestions={corsMethods} optional={false} />
      <TagsField name="allowHeaders" suggestions={['Content-Type', 'Authorization', 'X-Requested-With', '*']} />
      <TagsField name="exposeHeaders" />
      <SwitchField name="allowCredentials" />
      <NumberField name="maxAge" min={1} max={86_400} suffix=" s" />
    </ModuleForm>
  );
}
