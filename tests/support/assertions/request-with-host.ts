import { request, type IncomingHttpHeaders } from 'node:http';

/** Sends a request with a chosen Host header, which fetch does not allow. */
export function requestWithHost(
  host: string,
  url: string,
): Promise<{ status: number; text: string; headers: IncomingHttpHeaders }> {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof requestWithHost>>>();
  request(url, { headers: { host } }, (answer) => {
    const parts: Buffer[] = [];
    answer.on('data', (part: Buffer) => parts.push(part));
    answer.on('end', () =>
      resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString(), headers: answer.headers }),
    );
  })
    .on('error', reject)
    .end();
  return promise;
}
