import { expect, test } from 'vitest';
import { signedHeaders } from './sigv4.ts';

test('the signature is that of the example in the documentation of Amazon S3', () => {
  const keys = {
    region: 'us-east-1',
    accessKeyID: 'AKIAIOSFODNN7EXAMPLE',
    secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  };
  const more = { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' };
  const url = new URL('https://examplebucket.s3.amazonaws.com/test%24file.text');
  const now = new Date('2013-05-24T00:00:00Z');
  const { authorization } = signedHeaders(url, Buffer.from('Welcome to Amazon S3.'), keys, now, more);
  expect(authorization).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  );
});
