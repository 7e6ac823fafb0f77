// Bodies that servers read in another way than their type says. A comment on an attack names such a server.
import { afterAll, describe, expect, test } from 'vitest';
import { siteWithWaf, type WafOptions } from '../support/builders/waf.ts';
import { startEdge } from '../support/services/edge.ts';
import { startWafEngine, type WafRequest } from '../support/services/waf-engine.ts';

const [edge, engine] = await Promise.all([startEdge(), startWafEngine()]);
afterAll(() => Promise.all([edge.stop(), engine.stop()]));

const ATTACK = "1' union all select name,password from users -- ";
const latin1 = (bytes: Buffer) => bytes.toString('latin1');
const utf8 = (text: string) => latin1(Buffer.from(text));
const utf16le = (text: string) => latin1(Buffer.from(text, 'utf16le'));
const utf16be = (text: string) => latin1(Buffer.from(text, 'utf16le').swap16());
const utf32 = (text: string, isLittle: boolean) => {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const bytes = Buffer.alloc(points.length * 4);
  points.forEach((point, i) => (isLittle ? bytes.writeUInt32LE(point, i * 4) : bytes.writeUInt32BE(point, i * 4)));
  return latin1(bytes);
};

/** A body, its Content-Type (several are several header lines), and a case's name. */
type Case = readonly [name: string, type: string | readonly string[] | null, body: string];
const requestOf = ([, type, body]: Case) => ({
  target: '/',
  headers: [type ?? []].flat().map((one) => ['Content-Type', one] as const),
  body,
});
async function rulesOf(cases: readonly Case[], options: { level?: number; disabled?: readonly string[] } = {}) {
  const verdicts = await engine.judge(cases.map(requestOf), options);
  return Object.fromEntries(cases.map(([name], i) => [name, verdicts[i]?.rule ?? 'passed']));
}
/** The cases by name, each with the same expectation. */
const all = (cases: readonly Case[], expected: unknown) =>
  Object.fromEntries(cases.map(([name]) => [name, expected] as const));

const FORM_DATA = 'multipart/form-data; boundary=xYzZy';
const part = (head: string, content = ATTACK, mark = 'xYzZy') => `--${mark}\r\n${head}\r\n\r\n${content}\r\n`;
const parts = (head: string, content = ATTACK) => `${part(head, content)}--xYzZy--\r\n`;
const field = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const json = (id: string) => JSON.stringify({ id });

const ENCODING = 'Content-Transfer-Encoding';

const multipartAttacks: Case[] = [
  // Only a `filename` parameter of Content-Disposition makes a part a file, everywhere.
  ['a field named filename', FORM_DATA, parts(field('filename'))],
  ['a field whose name contains a parameter', FORM_DATA, parts(`Content-Disposition: form-data; name="a; filename=b"`)],
  ['another line with filename', FORM_DATA, parts(`${field('id')}\r\nContent-Type: text/plain; filename="a.png"`)],
  ['a line before with filename', FORM_DATA, parts(`X-Note: filename=a.png\r\n${field('id')}`)],
  // PHP and busboy know no filename*, so this is a field for them.
  ['an extended file name only', FORM_DATA, parts(`${field('id')}; filename*=UTF-8''a.png`)],
  // Go's multipart reader stores a part with an empty file name as a value.
  ['an empty file name', FORM_DATA, parts(`${field('id')}; filename=""`)],
  // PHP accepts single quotes: for it, the file name is a part of the name.
  ['a name in single quotes', FORM_DATA, parts(`Content-Disposition: form-data; name='; filename="a.png"; x='`)],
  // PHP joins folded lines, others take the last or the first of two.
  ['two dispositions', FORM_DATA, parts(`${field('f')}; filename="a.png"\r\n${field('id')}`)],
  ['a folded line', FORM_DATA, parts(`X-Note: a\r\n Content-Disposition: form-data; filename="b"\r\n${field('id')}`)],
  // Django decodes base64 parts, Python's email package also quoted-printable.
  [
    'a part in base64',
    FORM_DATA,
    parts(`${field('id')}\r\nContent-Transfer-Encoding: base64`, btoa(ATTACK).replace(/.{20}/g, '$&\r\n')),
  ],
  [
    'a part in quoted-printable',
    FORM_DATA,
    parts(
      `${field('id')}\r\nContent-Transfer-Encoding: Quoted-Printable`,
      ATTACK.replace(/./g, (c) => `=${c.charCodeAt(0).toString(16)}`),
    ),
  ],
  // Django takes the last line of several.
  [
    'a part in base64 behind another encoding',
    FORM_DATA,
    parts(`${field('id')}\r\n${ENCODING}: 7bit\r\n${ENCODING}: base64`, btoa(ATTACK).replace(/.{20}/g, '$&\r\n')),
  ],
  // Django, Spring and commons-fileupload decode a part by its own charset.
  [
    'a part in UTF-16',
    FORM_DATA,
    parts(`${field('id')}\r\nContent-Type: text/plain; charset=utf-16be`, utf16be(ATTACK)),
  ],
  // A file before the first boundary of one reader is a field after the first boundary of the other.
  ['a preamble', FORM_DATA, `--other\r\n${field('id')}\r\n\r\n${ATTACK}\r\n--other--\r\n${parts(field('a'), 'b')}`],
  // PHP cuts an unquoted boundary at a comma.
  [
    'a boundary with a comma',
    'multipart/form-data; boundary=xYzZy,a',
    `${part(field('f') + '; filename="a"', 'b', 'xYzZy,a')}${parts(field('id'))}`,
  ],
  // A quoted string may have escapes (RFC 9110), which Go undoes.
  [
    'a boundary with an escape',
    'multipart/form-data; boundary="x\\YzZy"',
    `--x\\YzZy\r\n${field('f')}; filename="a"\r\n\r\n${parts(field('id'))}`,
  ],
  // Struts looks for multipart/form-data anywhere in the type.
  [
    'multipart after another type',
    'text/plain; multipart/form-data; boundary=xYzZy',
    parts(`${field('f')}; filename="a"`, '<?php system($_GET[1]); ?>'),
  ],
  ['a type that only mentions multipart', 'application/json; x=multipart/; boundary=xYzZy', json(ATTACK)],
];

/** A file for readers of the boundary xYzZy, with what may be parts of another one. */
const ofTwoReaders = (parameters: string): Case => [
  parameters,
  `multipart/form-data; ${parameters}`,
  parts(`${field('f')}; filename="a"`, `${part(field('id'), 'a', 'b')}--b--`),
];
const brokenMultiparts: Case[] = [
  // PHP takes the first boundary, Go and others refuse or take the last.
  [
    'two boundaries',
    `${FORM_DATA}; boundary=b`,
    `${part(`${field('f')}; filename="a"`, part(field('id'), 'a', 'b'))}--xYzZy--`,
  ],
  [
    'two types',
    [FORM_DATA, 'multipart/form-data; boundary=b'],
    `${part(`${field('f')}; filename="a"`, part(field('id'), 'a', 'b'))}--xYzZy--`,
  ],
  // PHP takes the first parameter that mentions a boundary.
  ...['xboundary=b; boundary=xYzZy', 'boundaryx=b; boundary=xYzZy', 'Boundary=xYzZy; x-boundary=b'].map(ofTwoReaders),
  // PHP keeps white space, others trim it, and Python's email package trims it also within quotes.
  ...['boundary= xYzZy', 'boundary=xYzZy ; a=b', 'boundary="xYzZy "'].map(ofTwoReaders),
  // commons-fileupload keeps quotes that do not enclose the value.
  ...['boundary="xYzZy', 'boundary="xYzZy"b', 'boundary=xYzZy"b"'].map(ofTwoReaders),
  // PHP cuts an unquoted boundary at a comma, others at white space.
  ...['boundary=xYzZy b,c', 'boundary=xYzZy,b; boundary=xYzZy,c'].map(ofTwoReaders),
  // Python's email package and werkzeug join the pieces of RFC 2231.
  ['a boundary in pieces', 'multipart/form-data; boundary*0=xY; boundary*1=zZy', parts(field('id'), 'a')],
  // busboy and Go want a delimiter to be a whole line after CRLF, PHP only its beginning after LF.
  [
    'a delimiter after LF only',
    FORM_DATA,
    parts(`${field('f')}; filename="a"`, `a\n--xYzZy\r\n${field('id')}\r\n\r\nb`),
  ],
  [
    'a delimiter with more on its line',
    FORM_DATA,
    parts(`${field('f')}; filename="a"`, `a\r\n--xYzZyq\r\n${field('id')}\r\n\r\nb`),
  ],
  ['a delimiter within a line', FORM_DATA, parts(field('id'), '1 union --xYzZy\r\n select 1')],
];

/** Parameters of a Content-Disposition by the rule that finds the file name. */
const fileNames: (readonly [rule: string, parameters: string])[] = [
  ['protocol-broken-multipart', `name="f"${'; filename="a"'.repeat(8)}; filename="shell.php"`],
  ['protocol-broken-multipart', `name="f"; filename="${'a'.repeat(9000)}.php"`],
  ['files-upload-settings', 'filename=.htaccess; name="f"'],
  ['files-upload-settings', 'filename=.htaccess ; name="f"; x=1'],
  // PHP accepts single quotes, and escapes of quotes.
  ['files-upload-settings', `name="f"; filename='.htaccess'`],
  ['files-upload-program', 'name="f"; filename="a\\".php"'],
  ['files-upload-program', 'name="f"; filename="a\\".php"; x="1"'],
  ['files-upload-settings', `name="f"; filename*=UTF-8''.htaccess`],
  // PHP joins lines, and ends them at LF only.
  ['files-upload-program', 'name="f"; filename="shell\r\n .php"'],
  ['files-upload-program', 'name="f"; filename="shell\r\n.php"'],
  ['files-upload-program', 'name="f"; filename="shell\r.php"'],
  // Python and Java accept other spellings of charsets, and decode by them.
  ['files-upload-settings', `name="f"; filename*=utf_8''.htaccess`],
  ['protocol-unknown-charset', `name="f"; filename*=cp037''%4B%88%A3%81%83%83%85%A2%A2`],
  // Python's email package joins pieces.
  ['protocol-broken-multipart', 'name="f"; filename*0=".hta"; filename*1="ccess"'],
];

const jsonAttacks: Case[] = [
  // Json.NET and Gson read single quotes, and names without quotes. The last key gives the JSON reader a string.
  ['JSON in single quotes', JSON_TYPE, `{'id':'1 union all select name from users',"a":""}`],
  // Template engines read a text/plain body or a value as it is.
  ['a template', 'text/plain', '{{config.__class__.__init__.__globals__["os"].popen("id").read()}}'],
  ['a template behind an array', 'text/plain', '[""]{{constructor.constructor["alert"]}}'],
  ['words after a string', 'text/plain', `"" union all select name,password from users`],
  ['words in an array', 'text/plain', '["a"] union all select name,2 from users where name = "x"'],
  // GraphQL servers take application/graphql as a query.
  ['raw GraphQL of great depth', 'application/graphql', `{a(id:"1")${'{a'.repeat(16)}${'}'.repeat(17)}`],
];
/** Models that may find an XML document as a whole. */
const MODEL_RULES = ['sqli-model', 'files-model', 'xss-model', 'protocol-model'];
const xmlAttacks: Case[] = [
  ['a text in pieces', 'text/xml', '<q>1 uni<!-- > -->on all sel<![CDATA[ect name,pass]]>word fr<?a " ?>om users</q>'],
  ['an attribute in single quotes', 'text/xml', "<a b='1 union select 1,2'/>"],
  ['an attribute with a bracket', 'text/xml', '<a b="1 union/*>*/ select 1,2"/>'],
  ['XML that is declared as a form', FORM, "<a b='c'>1 un<!-- -->ion select 1,2</a>"],
  // JAX-WS and WCF send SOAP with attachments so.
  [
    'a part of related ones',
    'multipart/related; type="application/xop+xml"; boundary=xYzZy',
    parts('Content-Type: application/xop+xml; charset=UTF-8', '<a>1 un<!-- -->ion select 1,2</a>'),
  ],
];

/** Texts that only begin like XML. */
const tagAttacks = [
  "<' union all select name,password from users -- ",
  '<1 union all select name,password from users -- >',
  "<a b=c' union all select 1,2/>",
].flatMap((text) => ['text/plain', JSON_TYPE].map((type): Case => [`${type} ${text}`, type, text]));
/** Between two words, more than a rule sees of a long value. */
const gaps = [' ', '\t', '\n', '\r\n', ' \n'];
const gapAttacks = gaps.map((gap): Case => [
  JSON.stringify(gap),
  FORM,
  `id=${encodeURIComponent(`1 union${gap.repeat(8000)}select name,password from users`)}`,
]);

// Templates of browsers and servers, and SQL that is put together from the value.
const valueAttacks = [
  '{{constructor.constructor["alert"]}}',
  '{{[].__class__.__base__.__subclasses__}}""',
  '["" union all select name,password from users',
];

const wideAttacks: Case[] = [
  // body-parser and ASP.NET follow the byte order mark.
  ['UTF-16 with a mark', JSON_TYPE, `\xff\xfe${utf16le(json(ATTACK))}`],
  ['big-endian UTF-16 with a mark', JSON_TYPE, `\xfe\xff${utf16be(json(ATTACK))}`],
  ['UTF-32 with a mark', JSON_TYPE, `\xff\xfe\0\0${utf32(json(ATTACK), true)}`],
  ['big-endian UTF-32 with a mark', JSON_TYPE, `\0\0\xfe\xff${utf32(json(ATTACK), false)}`],
  // Jackson and Python's json.loads look at the NULs of the first bytes.
  ['UTF-16 without a mark', JSON_TYPE, utf16le(json(ATTACK))],
  ['big-endian UTF-16 without a mark', JSON_TYPE, utf16be(` ${json(ATTACK)}`)],
  ['UTF-32 without a mark', JSON_TYPE, utf32(json(ATTACK), true)],
  ['big-endian UTF-32 without a mark', JSON_TYPE, utf32(json(ATTACK), false)],
  // XML parsers do the same (XML 1.0, appendix F).
  ['XML in UTF-16', 'text/xml', utf16be(`<a b="${ATTACK}"/>`)],
  // body-parser, Spring and ASP.NET follow the declared charset.
  ['a declared charset', `${JSON_TYPE}; charset="UTF-16BE"`, utf16be(`  ${json(ATTACK)}`)],
  ['a charset of unknown order', `${JSON_TYPE};charset=utf-16`, utf16le(`的 ${json(ATTACK)}`)],
  ['ucs-2', 'text/plain; charset=ucs-2', utf16le(ATTACK)],
  ['JSON declared as bytes', 'application/octet-stream', `\xff\xfe${utf16le(json(ATTACK))}`],
  // PHP does not look at the charset.
  [
    'a form that is declared as UTF-16',
    'application/x-www-form-urlencoded; charset=utf-16',
    `a=${encodeURIComponent(ATTACK)}`,
  ],
  ['a form behind a mark', FORM, `\xff\xfea=1&id=${encodeURIComponent(ATTACK)}`],
  ['a form with NULs', FORM, `\xff\xfea=${'\0a'.repeat(40)}&id=${encodeURIComponent(ATTACK)}`],
];

// Servers split a form whatever its first character is.
const formAttacks: Case[] = [
  ['a name like XML', FORM, '<=1&id=1+union+all+select+name,password+from+users'],
  ['a name like an element', FORM, '<a/>=1&id=1+union+select+1,2'],
  ['a single field', FORM, '<=1+union+all+select+name,password+from+users'],
];

const unknownCharsets: Case[] = [
  // Tomcat and ASP.NET decode forms by any charset that the platform has.
  ['EBCDIC', 'application/x-www-form-urlencoded; charset=ibm037', '%89%84=%F1'],
  ['UTF-7', 'text/plain; charset=utf-7', '+ADw-b+AD4-'],
  // Tomcat finds a charset within another parameter.
  ['a charset within a parameter', `${FORM}; xcharset=ibm037`, '%89%84=%F1'],
  ['a charset within a value', `${FORM}; x="charset=ibm037"`, '%89%84=%F1'],
  // Escapes between letters disappear.
  ['ISO-2022-JP', 'text/plain; Charset = ISO-2022-JP', 'un\x1b(Bion sel\x1b(Bect'],
  ['a second charset', 'text/plain; charset=utf-8; charset=cp500', 'a'],
  ['a part with EBCDIC', FORM_DATA, parts(`${field('id')}\r\nContent-Type: text/plain; charset=cp1047`, 'a')],
  // libxml2 decodes UTF-7 by iconv.
  ['XML in UTF-7', 'text/xml', `<?xml version="1.0" encoding='UTF-7'?><a/>`],
  ['XML in EBCDIC', 'text/xml', '\x4c\x6f\xa7\x94\x93\x40'],
];

const controls = Array.from({ length: 20 }, (_, i) => String.fromCharCode((i % 8) + 1)).join('');
const controlAttacks: Case[] = [
  // A handler that reads the body as text gets the controls and the attack. SQL Server takes them as spaces.
  ['controls before', 'text/plain', `${controls}${ATTACK}`],
  ['controls without a type', null, `${controls} ${ATTACK}`],
  ['controls between words', 'text/plain', `\x01\x02\x03\x04${ATTACK.replaceAll(' ', '\x01\x02')}`],
  ['controls and much text', 'text/plain', `${controls}${'it is a <b> (long) text; '.repeat(1000)}${ATTACK}`],
  ['a text type that mentions bytes', 'text/plain; a=octet-stream', ATTACK],
];

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const PNG = latin1(Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001080600000021', 'hex'));
const MP4 = latin1(Buffer.from('000000206674797069736f6d0000020069736f6d69736f32617663316d703431', 'hex'));
/** Bytes that look like an attack to the model, which no rule confirms. */
const BYTES = controls.repeat(9) + 'x = (function(){return "<a b=c>";})();'.repeat(4);
const SOAP =
  '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><m:put xmlns:m="http://a/b"><m:name>it\'s a scan</m:name><xop:Include xmlns:xop="http://www.w3.org/2004/08/xop/include" href="cid:a@b"/></m:put></soap:Body></soap:Envelope>';
const ATOM = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>It's a blog</title><link rel="self" href="https://example.com/feed?a=1&amp;b=2"/>
<entry><id>urn:uuid:1225c695-cfb8-4ebb-aaaa-80da344efa6a</id><title>How to grow tomatoes (and eat them)</title><author><name>Anne O'Neil</name><email>a@example.com</email></author>
<content type="text">Don't read this now.</content></entry></feed>`;
const RSS = `<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News</title><link>https://example.com/</link>
<item><title>Tom &amp; Ann's shop</title><description><![CDATA[<p style="color:red">Let's go (now) to <a href="https://example.com/?q=1&p=2">the shop</a>.</p>]]></description><pubDate>Sun, 29 Nov 2026 10:00:00 GMT</pubDate><guid isPermaLink="false">1</guid></item></channel></rss>`;
const XHTML = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><head><title>It's a page</title><meta http-equiv="Content-Type" content="text/html; charset=utf-8"/></head><body><p class="note">Hello, world &amp; all.</p></body></html>`;
const NOTE = "<note lang='en'>The meeting is at ten, and it's in the big room.</note>";
const QUOTE = `<quote><by>Ann O'Neil</by><text>"It's late," she said; "don't wait (for me)."</text></quote>`;
const SVG = `<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><path d="M0 0L10 10"/></svg>`;
const PLIST = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict><key>PayloadType</key><string>Configuration</string></dict></plist>`;
const ARTICLE =
  '如何在 MySQL 中使用 UNION 查詢？先看 SELECT 的結果，再比較（欄位數）與型別。“引號”也要注意；日本語と한국어。';
const upload = (parameters: string, content: string, type = 'application/octet-stream') =>
  parts(`${field('f')}; ${parameters}\r\nContent-Type: ${type}`, content);

const honest: Case[] = [
  [
    'JSON with templates in strings',
    JSON_TYPE,
    '{"text":"Hello {{name}}, you owe {{amount}} {% if x %}","list":["{a}",1.5e-3,true,null]}',
  ],
  ['JSON lines', 'application/x-ndjson', '{"a":1}\n{"b":[-1,{}]}\n'],
  ['JSON of Python', JSON_TYPE, '{"a": NaN, "b": [Infinity, -Infinity], "note": "it\'s (not) a number"}'],
  ['JSON behind a UTF-8 mark', JSON_TYPE, `\xef\xbb\xbf${utf8(JSON.stringify({ text: ARTICLE }))}`],
  [
    'GraphQL in JSON',
    JSON_TYPE,
    JSON.stringify({
      query: 'query Q($id: ID!) { user(id: $id) { name, posts(first: 10) { edges { node { title } } } } }',
      variables: { id: '1' },
    }),
  ],
  [
    'raw GraphQL',
    'application/graphql',
    '{ user(id: "1", order: { by: NAME }) { name ...F posts(first: 10) @include(if: true) { title } } }\nfragment F on User { email }',
  ],
  ['JavaScript objects', 'text/plain', '{a: \'b\', list: [1, 2], text: "it is"}'],
  [
    'XML without a type of its own',
    FORM,
    '<xml><appid><![CDATA[wx2421b1c4370ec43b]]></appid><body><![CDATA[\xe5\x95\x86\xe5\x93\x81]]></body><total_fee>1</total_fee></xml>',
  ],
  ['SOAP without a type of its own', FORM, SOAP],
  ...Object.entries({ ATOM, RSS, NOTE, QUOTE }).flatMap(([name, text]): Case[] =>
    ['text/xml', 'text/plain', JSON_TYPE].map((type): Case => [`${name} as ${type}`, type, text]),
  ),
  ...Object.entries({ RSS, NOTE, QUOTE }).map(([name, text]): Case => [`${name} as a form`, FORM, text]),
  ...[
    '<a b="c"/>',
    "<a b='c'/>",
    '<color rgb="#fff"/>',
    '<img src="a.png"/>',
    '<select name="x"/>',
    '<table><row id="1"/></table>',
    '<x:ping xmlns:x="urn:a"/>',
    '<a href="http://example.com/">b</a>',
  ].map((text): Case => [text, 'text/xml', text]),
  ['XML of two attributes in single quotes', 'text/xml', "<user id='1' name='Tom'/>"],
  ['a property list', 'text/xml', PLIST],
  [
    'XML with attributes without a type of its own',
    FORM,
    '<?xml version="1.0" encoding="UTF-8"?>\n<order id="17" xmlns="http://example.com/order"><item name="Tom &amp; Ann\'s"/><!-- paid --><note>it\'s <b>late</b></note></order>',
  ],
  [
    'XML with single quotes',
    'text/xml',
    `<rss version='2.0'><channel><title>It's news</title><link href='https://example.com/?a=1&amp;b=2'/><description><![CDATA[<p>Let's go</p>]]></description></channel></rss>`,
  ],
  ['a multipart preamble of a line break', FORM_DATA, `\r\n${parts(field('a'), "it's a <b>")}`],
  ['multipart lines without CR', FORM_DATA, parts(field('a'), "it's a note").replaceAll('\r\n', '\n')],
  [
    'a multipart upload of metadata',
    'multipart/related; boundary=xYzZy',
    `${part('Content-Type: application/json; charset=UTF-8', '{"name":"it\'s a photo","parents":["root"]}')}${parts('Content-Type: application/dicom', BYTES)}`,
  ],
  [
    'SOAP with an attachment',
    'multipart/related; type="application/xop+xml"; boundary=xYzZy',
    `${part('Content-Type: application/xop+xml; charset=UTF-8', SOAP)}${parts('Content-Type: application/octet-stream\r\nContent-ID: <a@b>', BYTES)}`,
  ],
  [
    'a quoted boundary',
    'multipart/form-data; charset=utf-8; boundary="----=_Part_1=boundary"',
    `------=_Part_1=boundary\r\n${field('a')}\r\n\r\nb\r\n------=_Part_1=boundary--\r\n`,
  ],
  [
    'an unquoted boundary with punctuation',
    'multipart/form-data; boundary=a,b(c)',
    `--a,b(c)\r\n${field('a')}\r\n\r\nb\r\n--a,b(c)--`,
  ],
  [
    'a boundary parameter behind others',
    'multipart/related; type="text/xml"; boundary="----=_boundary_1" ; start="<root-boundary@a>"',
    `------=_boundary_1\r\nContent-Type: text/xml\r\n\r\n<a>b</a>\r\n------=_boundary_1--\r\n`,
  ],
  ['two types that are the same', [FORM_DATA, FORM_DATA], parts(field('a'), 'b')],
  ['a body cut at the limit', FORM_DATA, `${part(field('a'), 'b')}--xYz`],
  ['a field named filename with a file name', FORM_DATA, parts(field('filename'), 'report-2026.pdf')],
  ['an image', FORM_DATA, upload('filename="a.png"', PNG + MP4, 'image/png')],
  ['an image with an extended file name', FORM_DATA, upload("filename*=utf-8''%E5%9C%96.png", PNG + MP4, 'image/png')],
  [
    "a file of .NET's HttpClient",
    FORM_DATA,
    upload(`filename=report.pdf; filename*=utf-8''report.pdf`, PNG + MP4, 'application/pdf'),
  ],
  ['an image with a file name without quotes', FORM_DATA, upload('filename=my file.png', PNG + MP4, 'image/png')],
  [
    'a base64 part',
    FORM_DATA,
    parts(`${field('a')}\r\nContent-Transfer-Encoding: base64`, btoa('a plain note about unions')),
  ],
  ['a UTF-16 file', FORM_DATA, upload('filename="a.csv"', `\xff\xfe${utf16le('id,name\r\n1,"的"')}`, 'text/csv')],
  ['UTF-16 JSON', `${JSON_TYPE}; charset=utf-16`, `\xff\xfe${utf16le(JSON.stringify({ text: ARTICLE.repeat(20) }))}`],
  [
    'big-endian UTF-16 XML',
    'text/xml; charset=UTF-16',
    `\xfe\xff${utf16be(`<?xml version="1.0" encoding="UTF-16"?><a><b>${ARTICLE.repeat(20)}</b></a>`)}`,
  ],
  ['XML that declares Big5', 'text/xml', '<?xml version="1.0" encoding="Big5"?><a>\xa5\x5c\xaf\xe0</a>'],
  // 功能 in Big5, 中文 in GBK, 表示 in Shift_JIS: second bytes that look like backslashes.
  ['a Big5 form', FORM, 'q=%A5%5C%AF%E0&n=\xa5\x5c\xaf\xe0'],
  ['a declared Big5 form', 'application/x-www-form-urlencoded; charset=Big5', 'q=%A5%5C%AF%E0'],
  ['a GBK form', 'application/x-www-form-urlencoded; charset="gb2312"', 'q=%D6%D0%CE%C4&n=\xd6\xd0\xce\xc4\x97\x5c'],
  ['a Shift_JIS form', 'application/x-www-form-urlencoded; charset=Shift_JIS', 'q=%95%5C%8E%A6&n=\x95\x5c\x8e\xa6'],
  ['an undeclared Shift_JIS text', 'text/plain', '\x95\x5c\x8e\xa6\x82\xb7\x82\xe9'.repeat(20)],
  ['protobuf', 'application/x-protobuf', '\x0a\x05hello\x10\x96\x01\x1a\x03\x01\x02\x03'.repeat(30)],
  ['gRPC', 'application/grpc+proto', '\0\0\0\0\x0c\x0a\x0aSELECT * x'],
  ['bytes', 'application/octet-stream', MP4.repeat(20)],
  ['an image as a body', 'image/png', PNG + MP4],
  ['an upload without a type', null, PNG + MP4.repeat(20)],
  ['a workbook', XLSX, `PK\x03\x04\x14\0\x06\0\x08\0${PNG}xl/worksheets/sheet1.xml${MP4}`],
  ['a declared charset with quotes and case', 'text/plain; Charset="Windows-1252"', 'caf\xe9 \x93quoted\x94'],
  ['an undefined charset', `${JSON_TYPE}; charset=undefined`, '{"a":1}'],
];

describe('in block mode', () => {
  test.each([
    ['parts of multipart bodies', multipartAttacks],
    ['bodies that are not quite JSON', jsonAttacks],
    ['forms that begin like XML', formAttacks],
    ['bodies in UTF-16 and UTF-32', wideAttacks],
    ['texts with control characters', controlAttacks],
  ])('attacks are found in %s', async (_what, cases) => {
    const found = expect.stringMatching(/^(sqli|template|graphql|php|xss)-/);
    expect(await rulesOf(cases)).toEqual(all(cases, found));
  });

  test('a template is found in a query value that looks like JSON', async () => {
    const verdicts = await engine.judge(
      valueAttacks.map((value) => ({ target: `/?q=${encodeURIComponent(value)}`, headers: [], body: '' })),
      { level: 2 },
    );
    expect(verdicts.map(({ rule }) => rule)).toEqual(['xss-constructor', 'template-python', 'sqli-union-select']);
  });

  test('attacks are found by rules in XML', async () => {
    const rules = await rulesOf(xmlAttacks, { disabled: MODEL_RULES });
    expect(rules).toEqual(all(xmlAttacks, 'sqli-union-select'));
  });

  test('attacks are found by rules in texts that only begin like XML', async () => {
    expect(await rulesOf(tagAttacks, { disabled: MODEL_RULES })).toEqual(all(tagAttacks, 'sqli-union-select'));
  });

  test('an attack with 8,000 spaces or line ends between two words is found by its rule', async () => {
    expect(await rulesOf(gapAttacks, { disabled: MODEL_RULES })).toEqual(all(gapAttacks, 'sqli-union-select'));
  });

  test('document types of XHTML and SVG are no external entities', async () => {
    const cases = [XHTML, SVG].map((text): Case => [text, 'text/xml', text]);
    expect(await rulesOf(cases, { disabled: MODEL_RULES })).toEqual(all(cases, 'passed'));
  });

  test('boundaries that servers read in different ways are refused', async () => {
    expect(await rulesOf(brokenMultiparts)).toEqual(all(brokenMultiparts, 'protocol-broken-multipart'));
  });

  test('file names are found in each reading of a head', async () => {
    const cases = fileNames.map(([, parameters]): Case => [
      parameters,
      FORM_DATA,
      parts(`Content-Disposition: form-data; ${parameters}`, 'a'),
    ]);
    expect(await rulesOf(cases)).toEqual(Object.fromEntries(fileNames.map(([rule, parameters]) => [parameters, rule])));
  });

  test('the strings of JSON before the first part are values of JSON', async () => {
    const body = `["it's (a) <b>"]\r\n${parts(field('a'), 'b')}`;
    const [verdict] = await engine.judge([requestOf(['', FORM_DATA, body])], { values: true });
    const places = Object.values(verdict?.values ?? []).map((value) => value.split(',')[0]);
    expect(places).toContain('json');
    expect(places).not.toContain('raw');
  });

  test('a file name that servers read alike is inspected once', async () => {
    const head = `${field('f')}; filename='it''s (1) <a>.txt'`;
    const request = requestOf(['', FORM_DATA, parts(head, 'a')]);
    const [verdict] = await engine.judge([request], { values: true });
    const names = Object.values(verdict?.values ?? []).filter((value) => value.startsWith('filename,'));
    expect(names).not.toEqual([]);
    expect(names).toEqual([...new Set(names)]);
  });

  test('charsets that the firewall cannot read are refused', async () => {
    expect(await rulesOf(unknownCharsets)).toEqual(all(unknownCharsets, 'protocol-unknown-charset'));
  });

  test('honest bodies pass', async () => {
    expect(await rulesOf(honest)).toEqual(all(honest, 'passed'));
  });
});

async function send([, type, body]: Case, over: WafOptions = {}) {
  const { name } = await siteWithWaf(edge, over);
  const headers = { 'Content-Type': String(type) };
  const reply = await edge.get('/in', { host: name, method: 'POST', headers, body: Buffer.from(body, 'latin1') });
  return { status: reply.status, rule: (await edge.accessLogEntry(reply))['rule'] };
}
const sent: (readonly [string, string, Case | undefined])[] = [
  ['an attack in a field named filename', 'sqli-union-select', multipartAttacks[0]],
  ['JSON in single quotes', 'sqli-union-select', jsonAttacks[0]],
  ['an attack in UTF-16', 'sqli-union-select', wideAttacks[0]],
  ['an attack behind control characters', 'sqli-union-select', controlAttacks[0]],
  ['an unknown charset', 'protocol-unknown-charset', unknownCharsets[0]],
  ['two boundaries', 'protocol-broken-multipart', brokenMultiparts[0]],
];

test.each(sent)('%s is refused by nginx, and logged in monitor mode', async (_what, rule, one) => {
  if (!one) throw new Error('no such case');
  expect(await send(one)).toEqual({ status: 403, rule });
  expect(await send(one, { mode: 'monitor' })).toEqual({ status: 200, rule: `monitor/${rule}` });
});

test.each([
  ['a disabled rule', { disabledRules: ['protocol-unknown-charset'] }],
  ['a disabled category', { disabledCategories: ['protocol'] }],
  ['an exception of the path', { exceptions: [{ rule: 'protocol-unknown-charset', path: '/in', parameter: null }] }],
] satisfies [string, WafOptions][])('a body in an unknown charset passes with %s', async (_what, over) => {
  const body: Case = ['', 'text/plain; charset=ibm037', 'a'];
  expect((await send(body, over)).status).toBe(200);
  expect((await send(body, { exceptions: [{ rule: 'protocol', path: '/other', parameter: null }] })).status).toBe(403);
});

test('JSON that is cut within a word is read like the whole', async () => {
  const start = `{"a":"it's <b>","b":`;
  const bodies = ['null', 'tru', 'f', 'nope'].map((end) => ({
    target: '/',
    headers: [['Content-Type', JSON_TYPE]] satisfies WafRequest['headers'],
    body: start + end,
  }));
  const [whole, cut, cutEarly, other] = (await engine.judge(bodies, { values: true })).map(({ values }) => values);
  expect([cut, cutEarly]).toEqual([whole, whole]);
  expect(other).not.toEqual(whole);
});
