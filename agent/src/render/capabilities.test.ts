import { expect, test } from 'vitest';
import { mayRoutePackets, readCapabilities } from './capabilities.ts';

const disk = (files: Record<string, string>) => ({
  exists: (path: string) => path in files,
  read: (path: string) => files[path] ?? '',
});

test("Debian's nginx loads its modules from files, ndk before lua", () => {
  const dir = '/usr/lib/nginx/modules';
  const found = readCapabilities(
    `nginx version: nginx/1.22.1\nTLS SNI support enabled\nconfigure arguments: --prefix=/usr/share/nginx --modules-path=${dir} --with-http_v2_module --with-http_slice_module --with-http_realip_module --with-stream_realip_module --with-stream=dynamic`,
    disk({
      [`${dir}/ngx_http_lua_module.so`]: '',
      [`${dir}/ndk_http_module.so`]: '',
      [`${dir}/ngx_http_brotli_filter_module.so`]: '',
      '/usr/share/lua/5.1/ngx/balancer.lua': 'function _M.set_current_peer() end',
    }),
  );
  expect(found).toEqual({
    version: '1.22.1',
    openresty: false,
    modules: [`${dir}/ndk_http_module.so`, `${dir}/ngx_http_lua_module.so`, `${dir}/ngx_http_brotli_filter_module.so`],
    lua: true,
    stream: false,
    streamRealip: true,
    realip: true,
    brotli: true,
    slice: true,
    geoip2: false,
    http2: 'listen',
    http3: false,
    minFree: true,
    poolPerName: false,
  });
});

test('OpenResty has Lua built in, pools connections by name, and switches HTTP/2 by a directive', () => {
  const found = readCapabilities(
    'nginx version: openresty/1.27.1.2\nconfigure arguments: --prefix=/usr/local/openresty/nginx --add-module=../ngx_lua-0.10.28 --with-http_v2_module --with-http_v3_module --with-stream --with-stream_ssl_module',
    disk({ '/usr/local/openresty/lualib/ngx/balancer.lua': 'function _M.enable_keepalive() end' }),
  );
  expect(found).toMatchObject({
    version: '1.27.1',
    openresty: true,
    modules: [],
    lua: true,
    stream: true,
    streamRealip: false,
    http2: 'directive',
    http3: true,
    poolPerName: true,
  });
});

test('an nginx without Lua or HTTP/2 says so', () => {
  const found = readCapabilities('nginx version: nginx/1.28.0\nconfigure arguments: --prefix=/etc/nginx', disk({}));
  expect(found).toMatchObject({ version: '1.28.0', lua: false, http2: 'none', stream: false });
});

test('HTTP/3 is had since it is no experiment any more', () => {
  const has = (version: string) =>
    readCapabilities(`nginx version: nginx/${version}\nconfigure arguments: --with-http_v3_module`, disk({})).http3;
  expect(['1.25.5', '1.26.0', '1.26.3', '1.29.1'].map(has)).toEqual([false, true, true, true]);
});

test.each([
  ['root', '000001ffffffffff', true],
  ['somebody else', '0000000000000000', false],
  ['a unit that names both rights', '0000008000001000', true],
  ['a container', '00000000a80425fb', false],
])('packets may be sent to workers by %s: %s %s', (_, held, may) => {
  expect(mayRoutePackets(`Name:\tnode\nCapEff:\t${held}\nCapBnd:\t000001ffffffffff\n`)).toBe(may);
});

test('unexpected output of nginx -V is refused', () => {
  expect(() => readCapabilities('command not found', disk({}))).toThrow('unexpected output of nginx -V');
});
