// The nginx directives that operators may use, by part and file. Others are refused. Directives that reach beyond the
// zone (files, programs, other machines, our own phases) are refused with that reason.
import {
  parseSnippet,
  SnippetError,
  type Directive,
  type SnippetFault,
  type SnippetRule,
  type Token,
} from './snippet.ts';

/** `http`: visitors. `stream`: forwards. `worker`: nginx itself. `custom`: origins. */
export const snippetParts = ['http', 'stream', 'worker', 'custom'] as const;
export type SnippetPart = (typeof snippetParts)[number];

/** The file that a snippet's directives are written to. */
export type Place = 'main' | 'events' | 'shared' | 'visitors' | 'origins' | 'stream';

interface Allowed {
  place: Place;
  /** Checks that need more than a list of names. Returns the broken rule and the token. */
  judge?: (directive: Directive) => { rule: SnippetRule; about: Token } | null;
  /** The directive has a block with its own grammar. */
  block?: true;
}

const all = (place: Place, names: string, more: Omit<Allowed, 'place'> = {}): [string, Allowed][] =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => [name, { place, ...more }]);

type Judge = NonNullable<Allowed['judge']>;

/** Reserved prefixes: variables for cache keys, client certificates and the origin. nginx ignores case here. */
const reserved = /^[eo]_/i;
const used = /\$(?:\{([^}]*)\}|([A-Za-z0-9_]+))/g;
const usedIn = ({ text }: Token) => Array.from(text.matchAll(used), ([, braced, plain]) => braced ?? plain ?? '');

/** Decoded variables, which may contain a line break and so inject a field or a request. */
const raw =
  /^(?:uri|document_uri|request_filename|realpath_root|fastcgi_script_name|fastcgi_path_info|remote_user|request_body|ssl_server_name)$/i;
const hasRaw = (token: Token) => usedIn(token).some((name) => raw.test(name));
/** A numbered group belongs to the last evaluated pattern, which may be over a decoded path or have changed since. */
const hasGroup = (token: Token) => usedIn(token).some((name) => /^\d/.test(name));
const hasOwn = (token: Token) => usedIn(token).some((name) => /^my_/i.test(name));
/** A named group sets the variable of that name, even one of nginx. */
const named = /\(\?(?:P?<[^=!]|')/;

/** Per connection: a few connections must not fill a node's memory. */
const MOST_BUFFERED = 16 * 1_048_576;
const sizeOf = ({ text }: Token) => {
  const [, count = '1', unit = ''] = /^(\d+)([kmg]?)$/i.exec(text) ?? [];
  return Number(count) * ({ k: 1024, m: 1_048_576, g: 1_073_741_824 }[unit.toLowerCase()] ?? 1);
};

const noVariable: Judge = ({ name, args }) => {
  const found = args.find(({ text }) => text.includes('$'));
  if (found) return { rule: 'variable', about: found };
  // Limits number and size of buffers.
  const isMore =
    /_buffers?(?:_|$)/.test(name.text) && args.reduce((bytes, one) => bytes * sizeOf(one), 1) > MOST_BUFFERED;
  return isMore ? { rule: 'value', about: args.at(-1) ?? name } : null;
};
const ownVariable = (token: Token | undefined) => token !== undefined && /^\$my_[a-z0-9_]{1,60}$/.test(token.text);

/** A map reads no file and sets only its own variable. */
const table =
  (setsAt: number, words: readonly string[]): Judge =>
  ({ args, block }) => {
    const target = args[setsAt];
    if (!ownVariable(target)) return { rule: 'variable', about: target ?? args[0] ?? nothing };
    // A group of a decoded path would insert unchecked text, so the values must be constants.
    const isRaw = args.some(hasRaw);
    const isOfRow = (row: Directive, value: Token) => row.name.text.startsWith('~') && !isRaw && !hasOwn(value);
    for (const row of block ?? []) {
      if (row.block !== null) return { rule: 'block', about: row.name };
      if (words.includes(row.name.text)) return { rule: 'dangerous', about: row.name };
      if (row.args.length > 1) return { rule: 'value', about: row.name };
      if (named.test(row.name.text)) return { rule: 'variable', about: row.name };
      const cut = row.args.find((value) => hasRaw(value) || (hasGroup(value) && !isOfRow(row, value)));
      if (cut) return { rule: 'variable', about: cut };
    }
    return null;
  };
const nothing: Token = { text: '', line: 1, column: 1 };

const zoneName = /^zone=my_[a-z0-9_]{1,40}(?::[1-9][0-9]{0,3}[km])?$/;
/** Shared memory zones with names that are not ours, at most 16 MB. */
const counted: Judge = ({ args }) => {
  // nginx uses the last of repeated parameters.
  const [zone, another] = args.filter(({ text }) => text.startsWith('zone='));
  if (another !== undefined) return { rule: 'value', about: another };
  if (zone === undefined) return { rule: 'value', about: args[0] ?? nothing };
  if (!zoneName.test(zone.text) || bytesOf(zone.text) > 16_777_216) return { rule: 'value', about: zone };
  return null;
};
const limitConn: Judge = ({ args }) => {
  const [name = nothing] = args;
  return /^my_[a-z0-9_]{1,40}$/.test(name.text) ? null : { rule: 'value', about: name };
};
function bytesOf(zone: string): number {
  const [, count, unit] = /:(\d+)([km])$/.exec(zone) ?? [];
  return Number(count ?? 0) * (unit === 'm' ? 1_048_576 : 1024);
}

/** Fields that control caching, variants and message framing. */
const ownFields = new Set(
  (
    'alt-svc cache-control cache-status cdn-loop connection content-encoding content-length content-range date etag expires host keep-alive ' +
    'last-modified location proxy-authorization proxy-connection set-cookie strict-transport-security te trailer transfer-encoding upgrade ' +
    'vary via x-forwarded-for x-forwarded-proto x-real-ip x-request-id accept-encoding range if-range if-none-match if-modified-since'
  ).split(' '),
);
const field: Judge = ({ args: [name, value, always, ...more] }) => {
  if (name === undefined || !/^[A-Za-z][A-Za-z0-9-]{0,99}$/.test(name.text))
    return { rule: 'header', about: name ?? nothing };
  const lower = name.text.toLowerCase();
  if (ownFields.has(lower) || /^x-(?:e|accel|edgeloom)-/.test(lower)) return { rule: 'header', about: name };
  if (value === undefined || more.length > 0) return { rule: 'value', about: name };
  if (hasRaw(value)) return { rule: 'variable', about: value };
  return always === undefined || always.text === 'always' ? null : { rule: 'value', about: always };
};
const status: Judge = ({ args: [code = nothing] }) =>
  /^(?:4\d\d|503)$/.test(code.text) ? null : { rule: 'value', about: code };

const allowed: Readonly<Record<SnippetPart, ReadonlyMap<string, Allowed>>> = {
  http: new Map([
    ...all(
      'visitors',
      `client_body_buffer_size client_body_timeout client_header_buffer_size client_header_timeout client_max_body_size
       etag ignore_invalid_headers keepalive_disable keepalive_requests keepalive_time keepalive_timeout large_client_header_buffers
       lingering_close lingering_time lingering_timeout max_ranges merge_slashes msie_padding output_buffers postpone_output read_ahead reset_timedout_connection send_lowat
       send_timeout sendfile sendfile_max_chunk server_tokens tcp_nodelay tcp_nopush underscores_in_headers
       ssl_buffer_size ssl_ciphers ssl_ecdh_curve ssl_prefer_server_ciphers ssl_session_tickets ssl_session_timeout`,
      { judge: noVariable },
    ),
    ...all('visitors', 'limit_req', { judge: counted }),
    ...all('visitors', 'limit_conn', { judge: limitConn }),
    ...all('visitors', 'limit_req_status limit_conn_status', { judge: status }),
    ...all('visitors', 'limit_req_log_level limit_conn_log_level limit_req_dry_run limit_conn_dry_run', {
      judge: noVariable,
    }),
    ...all('visitors', 'add_header', { judge: field }),
    ...all('shared', 'limit_req_zone limit_conn_zone', { judge: counted }),
    ...all('shared', 'map_hash_bucket_size map_hash_max_size variables_hash_bucket_size variables_hash_max_size', {
      judge: noVariable,
    }),
    ...all('shared', 'map', { judge: table(1, ['include']), block: true }),
    ...all('shared', 'geo', {
      judge: (geo) => table(geo.args.length - 1, ['include', 'proxy', 'proxy_recursive'])(geo),
      block: true,
    }),
    ...all('shared', 'split_clients', { judge: table(1, ['include']), block: true }),
  ]),
  stream: new Map([
    ...all(
      'stream',
      `proxy_buffer_size proxy_download_rate proxy_half_close proxy_next_upstream proxy_next_upstream_timeout proxy_next_upstream_tries
       proxy_socket_keepalive proxy_upload_rate preread_buffer_size preread_timeout proxy_protocol_timeout tcp_nodelay
       variables_hash_bucket_size variables_hash_max_size map_hash_bucket_size map_hash_max_size limit_conn_dry_run allow deny`,
      { judge: noVariable },
    ),
    ...all('stream', 'limit_conn_zone', { judge: counted }),
    ...all('stream', 'limit_conn', { judge: limitConn }),
    ...all('stream', 'map', { judge: table(1, ['include']), block: true }),
  ]),
  worker: new Map([
    ...all(
      'main',
      'pcre_jit timer_resolution worker_cpu_affinity worker_priority worker_rlimit_nofile worker_shutdown_timeout',
      { judge: noVariable },
    ),
    ...all('events', 'accept_mutex accept_mutex_delay multi_accept worker_aio_requests', { judge: noVariable }),
  ]),
  custom: new Map([
    ...all(
      'origins',
      `gzip_buffers gzip_comp_level brotli_buffers brotli_comp_level brotli_window proxy_buffer_size proxy_buffers proxy_busy_buffers_size
       proxy_limit_rate proxy_next_upstream proxy_next_upstream_timeout proxy_next_upstream_tries proxy_send_lowat proxy_socket_keepalive
       proxy_ssl_ciphers proxy_ssl_protocols`,
      { judge: noVariable },
    ),
    ...all('origins', 'proxy_set_header', {
      judge: (directive) => (directive.args.length === 2 ? field(directive) : { rule: 'value', about: directive.name }),
    }),
    ...all('origins', 'proxy_hide_header', {
      judge: ({ args, name }) =>
        args.length === 1
          ? field({ name, args: [...args, { ...name, text: '' }], block: null })
          : { rule: 'value', about: name },
    }),
  ]),
};

/**
 * Directives that access files, programs or other machines, or bypass our phases. Refused like every unlisted one, with
 * this reason.
 */
const dangerous = new RegExp(
  `^(?:${[
    'load_module|include|user|daemon|pid|lock_file|env|working_directory|debug_points|debug_connection|master_process|ssl_engine|ssl_object_cache.*',
    'error_log|access_log|log_format|open_log_file_cache|open_file_cache.*|.*_by_lua.*|lua_.*|init_.*|perl.*|js_.*|njs.*|wasm.*',
    'root|alias|autoindex.*|index|try_files|internal|dav_.*|create_full_put_path|random_index|xslt?_.*|xml_entities|image_filter.*|ssi.*|flv|mp4.*',
    'server|location|upstream|listen|server_name|if|set|return|rewrite|break|error_page|proxy_pass|proxy_redirect|proxy_bind|mirror.*|auth_.*|post_action',
    'fastcgi_.*|uwsgi_.*|scgi_.*|memcached_.*|grpc_.*|resolver.*|proxy_(?:store|cache|temp|no_cache|ignore|intercept|method|pass_.*|set_body|http_version).*|proxy_store|.*_store|.*_store_access|.*_temp_path|client_body_in_.*',
    'ssl_(?:certificate|client_certificate|trusted_certificate|crl|dhparam|password_file|stapling|session_ticket_key|conf_command|verify|ocsp|reject|early).*',
    'proxy_ssl_(?:certificate|trusted|crl|password|conf_command|verify|name|server_name|session).*',
    'http|stream|events|mail|types|types_hash.*|google_perftools_profiles|thread_pool|worker_rlimit_core|worker_processes|worker_connections|use|zone_sync.*|api|status|stub_status|health_check|keyval.*|secure_link.*|userid.*|set_real_ip_from|real_ip_.*|proxy_protocol|limit_rate.*|satisfy|allow|deny|empty_gif|browser.*|modern_browser.*|ancient_browser.*|geoip.*|charset.*|addition_types|add_before_body|add_after_body|sub_filter.*|slice|expires|add_trailer|directio.*|aio.*|disable_symlinks|quic.*|http2.*|http3.*|absolute_redirect|port_in_redirect|server_name_in_redirect|chunked_transfer_encoding|if_modified_since|default_type|gzip|gzip_static|gunzip|brotli|brotli_static|gzip_types|gzip_vary|gzip_proxied|recursive_error_pages|msie_refresh|subrequest_output_buffer_size|connection_pool_size|request_pool_size|referer_.*|valid_referers|accept_mutex_.*',
  ].join('|')})$`,
);

/** All errors in order. A syntax error hides the others. */
export function snippetFaults(part: SnippetPart, text: string): SnippetFault[] {
  try {
    return parseSnippet(text).flatMap((directive) => faultOf(part, directive) ?? []);
  } catch (error) {
    if (error instanceof SnippetError) return [error.fault];
    throw error;
  }
}

function faultOf(part: SnippetPart, directive: Directive): SnippetFault | null {
  const { name, block } = directive;
  const refuse = (rule: SnippetRule, { text, line, column }: Token): SnippetFault => ({
    rule,
    line,
    column,
    about: text.slice(0, 100),
  });
  const found = allowed[part].get(name.text);
  if (found === undefined) {
    if (snippetParts.some((other) => allowed[other].has(name.text))) return refuse('elsewhere', name);
    return refuse(dangerous.test(name.text) ? 'dangerous' : 'unknown', name);
  }
  if ((block !== null) !== (found.block === true)) return refuse('block', name);
  const ours = tokensOf(directive).find((token) => usedIn(token).some((variable) => reserved.test(variable)));
  const astray = ours ?? directive.args.find(hasGroup);
  if (astray !== undefined) return refuse('variable', astray);
  const wrong = found.judge?.(directive) ?? null;
  return wrong && refuse(wrong.rule, wrong.about);
}

const tokensOf = ({ name, args, block }: Directive): Token[] => [name, ...args, ...(block ?? []).flatMap(tokensOf)];

/** The directives by file. Throws at the first error, so unchecked text is never written. */
export function placed(part: SnippetPart, text: string): Map<Place, Directive[]> {
  const [fault] = snippetFaults(part, text);
  if (fault !== undefined) throw new SnippetError(fault);
  const places = new Map<Place, Directive[]>();
  for (const directive of parseSnippet(text)) {
    const place = allowed[part].get(directive.name.text)?.place ?? 'visitors';
    places.set(place, [...(places.get(place) ?? []), directive]);
  }
  return places;
}

/** For the editor: the allowed directives of a part. */
export const allowedNames = (part: SnippetPart): string[] => [...allowed[part].keys()].sort();
