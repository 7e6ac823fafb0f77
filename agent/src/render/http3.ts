// HTTP/3 uses UDP on the same port as TLS. Visitors learn of it by Alt-Svc in responses over TCP. Ports with PROXY
// protocol have none: UDP would bypass the proxy.
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Capabilities } from './capabilities.ts';
import { conf } from './conf.ts';

/** QUIC requires TLS 1.3. */
export const hasHttp3 = (zone: ZoneDoc, { http3 }: Pick<Capabilities, 'http3'>) =>
  http3 && zone.http3 === true && zone.tlsProtocols.includes('TLSv1.3');

export const http3Ports = (zone: ZoneDoc, capabilities: Pick<Capabilities, 'http3'>): number[] =>
  hasHttp3(zone, capabilities)
    ? zone.ports
        .flatMap(({ port, tls, proxyProtocol }) => (tls && proxyProtocol !== true ? port : []))
        .sort((a, b) => a - b)
    : [];

/** Empty on other ports, so that nginx omits the field. */
export const altSvcMap = (ports: number[]) => conf`map $server_port $e_alt_svc {
    default "";
${ports.map((port) => conf`    ${port} ${`h3=":${port}"; ma=86400`};\n`)}}
`;

/** One socket per worker, or packets would reach workers that do not know their connection. */
export const quicListens = (ports: number[], addresses: string[]) =>
  ports.flatMap((port) =>
    addresses.map((address) => conf`    listen ${`${address}:${port}`} quic reuseport default_server;\n`),
  );
