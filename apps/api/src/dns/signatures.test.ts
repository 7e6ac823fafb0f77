import { expect, test } from 'vitest';
import { alibabaCall } from './alibaba-signature.ts';
import { huaweiHeaders } from './huawei-signature.ts';
import { tencentHeaders } from './tencent-signature.ts';

test('Tencent Cloud: a call is signed as the example of its documentation', () => {
  const call = {
    service: 'cvm',
    host: 'cvm.tencentcloudapi.com',
    action: 'DescribeInstances',
    version: '2017-03-12',
    body: String.raw`{"Limit": 1, "Filters": [{"Values": ["\u672a\u547d\u540d"], "Name": "instance-name"}]}`,
    at: new Date(1_551_113_065_000),
  };
  const { authorization } = tencentHeaders(call, { keyID: `AKID${'*'.repeat(32)}`, keySecret: '*'.repeat(32) });
  expect(authorization).toBe(
    `TC3-HMAC-SHA256 Credential=AKID${'*'.repeat(32)}/2019-02-25/cvm/tc3_request, SignedHeaders=content-type;host;x-tc-action, Signature=10b1a37a7301a02ca19a647ad722d5e43b4b3cff309d421d85b46093f6ab6c4f`,
  );
});

test('Alibaba Cloud: a call is signed as the example of its documentation', () => {
  const call = {
    host: 'ecs.cn-shanghai.aliyuncs.com',
    action: 'RunInstances',
    version: '2014-05-26',
    params: { RegionId: 'cn-shanghai', ImageId: 'win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd' },
    nonce: '3156853299f313e23d1673dc12e1703d',
    at: new Date('2023-10-26T10:22:32Z'),
  };
  const { headers, query } = alibabaCall(call, { keyID: 'YourAccessKeyId', keySecret: 'YourAccessKeySecret' });
  expect(query).toBe('ImageId=win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd&RegionId=cn-shanghai');
  expect(headers.authorization).toBe(
    'ACS3-HMAC-SHA256 Credential=YourAccessKeyId,SignedHeaders=host;x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version,Signature=06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0',
  );
});

test('Huawei Cloud: a call is signed as the example of its documentation', () => {
  const call = {
    method: 'GET',
    url: new URL(
      'https://service.region.example.com/v1/77b6a44cba5143ab91d13ab9a8ff44fd/vpcs?limit=2&marker=13551d6b-755d-4757-b956-536f674975c0',
    ),
    body: '',
    at: new Date('2019-11-15T03:36:55Z'),
  };
  const key = { keyID: 'QTWAOYTTINDUT2QVKYUC', keySecret: 'MFyfvK41ba2giqM7Uio6PznpdUKGpownRZlmVmHc' };
  expect(huaweiHeaders(call, key).authorization).toBe(
    'SDK-HMAC-SHA256 Access=QTWAOYTTINDUT2QVKYUC, SignedHeaders=content-type;host;x-sdk-date, Signature=7be6668032f70418fcc22abc52071e57aff61b84a1d2381bb430d6870f4f6ebe',
  );
});
