// Rights of customers by the product of their site. Operators have all of them.
import { family } from './family.ts';

export const mayChangeDomains = (site: { domainLock: boolean }) => family !== 'user' || !site.domainLock;
export const mayOrderCertificates = (site: { autoSSL: boolean }) => family !== 'user' || site.autoSSL;
