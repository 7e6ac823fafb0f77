import { NumberField } from '../../components/fields/number-field.tsx';

/** The limits of an offer or a license. */
export const LimitFields = () => (
  <>
    <NumberField name="siteLimit" min={0} unlimited />
    <NumberField name="nodeLimit" min={0} unlimited />
    <NumberField name="zoneLimit" min={0} unlimited />
    <NumberField name="domainLimit" min={0} unlimited />
    <NumberField name="autoCertificateLimit" min={0} unlimited />
    <NumberField name="monitorSeconds" min={0} max={86_400} unlimited />
  </>
);
