import { request, type IncomingHttpHeaders } from 'node:http';

/** As a browser asks at this host name, which fetch does not let one say. */
export function askAt(
  host: string,
  url: string,
): Promise<{ status: number; text: string; headers: IncomingHttpHeaders }> {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof askAt>>>();
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
