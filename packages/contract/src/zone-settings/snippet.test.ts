import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allowedNames, placed, snippetFaults, snippetParts } from './directive-allowlist.ts';
import { parseSnippet, SnippetError, writeSnippet } from './snippet.ts';
import type { Directive } from './snippet.ts';

const faultOf = (text: string) => {
  try {
    parseSnippet(text);
    return null;
  } catch (error) {
    return error instanceof SnippetError ? error.fault : error;
  }
};
/** The directives without their positions. */
const contentOf = (directives: readonly Directive[]): unknown =>
  directives.map(({ name, args, block }) => [name.text, args.map(({ text }) => text), block && contentOf(block)]);

describe('a snippet is read as nginx reads it', () => {
  test.each([
    ['a b;', [['a', ['b'], null]]],
    [
      'a  "b c" \'d;e\' ; # f\ng;',
      [
        ['a', ['b c', 'd;e'], null],
        ['g', [], null],
      ],
    ],
    ['a b\\;c;', [['a', ['b\\;c'], null]]],
    ['a "b\\"c\\\\d\\e";', [['a', ['b"c\\d\\e'], null]]],
    ['a b"c;', [['a', ['b"c'], null]]],
    ['a ${b}c;', [['a', ['${b}c'], null]]],
    ['a b{c d;}', [['a', ['b'], [['c', ['d'], null]]]]],
    ['a b#c;', [['a', ['b#c'], null]]],
    ['a {b {c;}}', [['a', [], [['b', [], [['c', [], null]]]]]]],
  ])('%s', (text, expected) => {
    expect(contentOf(parseSnippet(text))).toEqual(expected);
  });

  test.each([
    ['a "b"c;', { rule: 'syntax', line: 1, column: 6 }],
    ['a b;\n  }', { rule: 'syntax', line: 2, column: 3 }],
    [';', { rule: 'syntax', line: 1, column: 1 }],
    ['a b', { rule: 'unended', line: 1, column: 3 }],
    ['a "b', { rule: 'unended', line: 1, column: 3 }],
    ['a\n{ b;', { rule: 'unended', line: 1, column: 1 }],
    ['a {b}', { rule: 'unended', line: 1, column: 4 }],
    ['a b\\tc;', { rule: 'control', line: 1, column: 3 }],
    ['a "b\nc";', { rule: 'control', line: 1, column: 3 }],
    [`a ${'b'.repeat(2049)};`, { rule: 'length', line: 1, column: 3 }],
    ['a{'.repeat(10), { rule: 'block' }],
  ])('%s is refused where it is wrong', (text, expected) => {
    expect(faultOf(text)).toMatchObject(expected);
  });

  test('what is written is read back as it was, and stands on the same lines', () => {
    const word = fc.string({ unit: fc.constantFrom(...'ab$ {};#"\'\\.()~^='), minLength: 1, maxLength: 8 });
    const directive = fc.record({
      name: fc.constantFrom('a', 'b_c'),
      args: fc.array(word, { maxLength: 3 }),
      lines: fc.nat(2),
    });
    fc.assert(
      fc.property(fc.array(directive, { maxLength: 5 }), (list) => {
        let line = 1;
        const directives = list.map(({ name, args, lines }): Directive => {
          line += lines;
          const token = (text: string) => ({ text, line, column: 1 });
          return { name: token(name), args: args.map(token), block: null };
        });
        const back = parseSnippet(writeSnippet(directives));
        expect(contentOf(back)).toEqual(contentOf(directives));
        expect(back.map(({ name }) => name.line)).toEqual(directives.map(({ name }) => name.line));
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  test('no text makes it throw anything but a fault', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab$ {};#"\'\\\n\t') }), (text) => {
        const fault = faultOf(text);
        expect(fault === null || (typeof fault === 'object' && fault !== null && 'rule' in fault)).toBe(true);
      }),
      { numRuns: 500, seed: 1 },
    );
  });
});

const rulesOf = (part: (typeof snippetParts)[number], text: string) =>
  snippetFaults(part, text).map(({ rule }) => rule);

describe('what a snippet may say', () => {
  test.each(
    `load_module include user daemon pid lock_file env working_directory debug_points master_process error_log access_log log_format root alias
     autoindex try_files index dav_methods create_full_put_path perl perl_set perl_modules js_import js_content access_by_lua_block content_by_lua_file
     init_by_lua_block lua_package_path set_by_lua server location upstream listen if set return rewrite error_page proxy_pass proxy_redirect
     proxy_bind mirror auth_request auth_basic_user_file fastcgi_pass fastcgi_store uwsgi_pass scgi_pass memcached_pass grpc_pass resolver proxy_store
     proxy_cache proxy_cache_path proxy_temp_path proxy_no_cache proxy_ignore_headers client_body_temp_path client_body_in_file_only ssl_certificate
     ssl_certificate_key ssl_trusted_certificate ssl_crl ssl_dhparam ssl_password_file ssl_session_ticket_key ssl_conf_command ssl_engine
     proxy_ssl_certificate proxy_ssl_verify proxy_ssl_session_reuse xslt_stylesheet ssi image_filter stub_status status_zone secure_link set_real_ip_from
     real_ip_header limit_rate thread_pool worker_processes worker_connections use http stream events types geoip2 sub_filter slice aio`
      .trim()
      .split(/\s+/)
      .flatMap((name) => snippetParts.map((part) => [name, part] as const)),
  )('%s is refused in %s', (name, part) => {
    const faults = snippetFaults(part, `${name} x;`);
    expect(faults).toHaveLength(1);
    expect(['dangerous', 'unknown']).toContain(faults[0]?.rule);
  });

  test('the dangerous ones are called so', () => {
    for (const name of [
      'load_module',
      'include',
      'root',
      'content_by_lua_block',
      'fastcgi_pass',
      'proxy_pass',
      'ssl_certificate',
      'error_log',
    ])
      expect(rulesOf('http', `${name} x;`)).toEqual(['dangerous']);
    expect(rulesOf('http', 'no_such_thing x;')).toEqual(['unknown']);
    expect(rulesOf('http', 'proxy_next_upstream_tries 3;')).toEqual(['elsewhere']);
  });

  test.each([
    ['http', 'map $host $host { default 1; }', 'variable'],
    ['http', 'map $host $my_x { include /etc/passwd; }', 'dangerous'],
    ['http', 'geo $my_x { include /etc/passwd; }', 'dangerous'],
    ['http', 'map $e_key $my_x { default 1; }', 'variable'],
    ['http', 'map $host $my_x { default ${o_key}; }', 'variable'],
    ['http', 'map $host $my_x { default $O_KEY; }', 'variable'],
    ['custom', 'proxy_set_header X-A ${O_Key};', 'variable'],
    ['http', 'map $http_x $my_x { "~^(?<e_key>.*)$" 1; }', 'variable'],
    ['http', 'map $http_x $my_x { ~(?P<args>.*) 1; }', 'variable'],
    ['http', `map $http_x $my_x { "~(?'o_pool'.*)" 1; }`, 'variable'],
    ['stream', 'map $remote_addr $my_x { "~(?<e_x>.*)" 1; }', 'variable'],
    ['http', 'add_header X-Path $uri;', 'variable'],
    ['custom', 'proxy_set_header X-Path a$document_uri;', 'variable'],
    ['custom', 'proxy_set_header X-User $remote_user;', 'variable'],
    ['http', 'map $host $my_x { default $uri; }', 'variable'],
    ['http', 'map $uri $my_x { "~(?s)^/(.*)$" $1; }', 'variable'],
    ['http', 'add_header X-A "$my_x$1" always;', 'variable'],
    ['custom', 'proxy_set_header X-A "$1$my_x";', 'variable'],
    ['http', 'limit_req_zone "$1$my_x" zone=my_a:1m rate=1r/s;', 'variable'],
    ['http', 'split_clients "$1" $my_x { * a; }', 'variable'],
    ['http', 'map $my_a $my_x { default $1; }', 'variable'],
    ['http', 'map "$my_a$1" $my_x { "~^(.*)$" $1; }', 'variable'],
    ['http', 'map $host $my_x { "~^(.*)$" "$1$My_a"; }', 'variable'],
    ['stream', 'map $remote_addr $my_x { a $1; }', 'variable'],
    ['http', 'limit_req_zone $host zone=my_a:1m zone=edge:9m rate=1r/s;', 'value'],
    ['http', 'map $host $my_x { a { b c; } }', 'block'],
    ['http', 'send_timeout { a; }', 'block'],
    ['http', 'map $host $my_x;', 'block'],
    ['http', 'send_timeout $host;', 'variable'],
    ['http', 'add_header Cache-Control no-store;', 'header'],
    ['http', 'add_header X-E-CC x;', 'header'],
    ['http', 'add_header "X: y" x;', 'header'],
    ['http', 'add_header X-A $o_key;', 'variable'],
    ['http', 'limit_req_zone $host zone=visitors:1m rate=1r/s;', 'value'],
    ['http', 'limit_req_zone $host zone=my_a:900m rate=1r/s;', 'value'],
    ['http', 'limit_req_status 200;', 'value'],
    ['custom', 'proxy_set_header Host evil.example;', 'header'],
    ['custom', 'proxy_set_header X-E-Key x;', 'header'],
    ['custom', 'proxy_hide_header X-Accel-Redirect;', 'header'],
    ['stream', 'limit_conn visitors 1;', 'value'],
    ['http', 'client_header_buffer_size 900m;', 'value'],
    ['http', 'large_client_header_buffers 8 1g;', 'value'],
    ['custom', 'proxy_buffers 100000 64K;', 'value'],
    ['http', 'open_file_cache_valid 1h;', 'dangerous'],
  ] as const)('in %s, %s is refused: %s', (part, text, rule) => {
    expect(rulesOf(part, text)).toEqual([rule]);
    expect(() => placed(part, text)).toThrow(SnippetError);
  });

  test('each part allows something, and says what', () => {
    for (const part of snippetParts) expect(allowedNames(part).length).toBeGreaterThan(5);
    expect(
      rulesOf(
        'http',
        'map $uri $my_kind { "~(?<=/)a(?<!b)\\.js$" script; } map $host $my_name { "~^(.*)\\.test$" $1; }',
      ),
    ).toEqual([]);
    expect(
      rulesOf('http', 'add_header X-Team "a b" always; limit_req_zone $binary_remote_addr zone=my_a:1m rate=5r/s;'),
    ).toEqual([]);
  });
});
