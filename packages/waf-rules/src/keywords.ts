// The words that the scanner knows. They are parts of languages and systems that attacks are written in, never of one
// site. A group names the category of a finding of the model.
import type { WafCategory } from '@edgeloom/contract/waf/waf.ts';

export const keywords: Readonly<Partial<Record<WafCategory, string>>> = {
  sqli: `select union insert update delete drop alter create table from where having group order by limit offset into outfile dumpfile
    values and or not null like rlike regexp between exists case when then else end as all distinct top join inner outer left right on
    exec execute declare cast convert varchar nvarchar char nchar chr ascii ord hex unhex concat concat_ws group_concat substring substr mid
    length len count sleep benchmark waitfor delay pg_sleep dbms_pipe dbms_lock receive_message utl_http utl_inaddr updatexml extractvalue
    information_schema table_name column_name table_schema schema_name columns tables sysobjects syscolumns sysdatabases sysusers
    pg_catalog pg_database pg_user pg_class sqlite_master all_tables user_tables dual rownum version database schema user current_user
    session_user system_user xp_cmdshell sp_executesql sp_password xp_dirtree xp_regread openrowset opendatasource load_file load_extension
    truncate replace procedure analyse floor rand if ifnull isnull nullif coalesce xor div mod is in true false current_setting
    begin commit rollback shutdown bulk uid elt make_set exp json_keys json_extract gtid_subset randomblob string_agg listagg
    to_char from_base64 lower upper reverse print collate binary escape returning handler prepare set`,
  xss: `script javascript vbscript livescript onerror onload onclick onmouseover onfocus onblur onmouseenter ontoggle onpointerenter
    onanimationstart onbegin onstart autofocus alert confirm prompt document cookie domain location window parent self top_window
    iframe img svg body html embed object applet meta link style base form input button textarea marquee isindex video audio source
    details math animate foreignobject xlink src href action formaction srcdoc srcset poster background expression behavior eval atob btoa
    settimeout setinterval function constructor fromcharcode innerhtml outerhtml write writeln createelement appendchild
    localstorage sessionstorage xmlhttprequest fetch import void throw this return prototype __proto__ string object_ number
    escape_html unescape decodeuricomponent contenteditable tabindex accesskey ondrag onwheel onscroll oncopy onpaste`,
  command: `cat ls id whoami uname pwd ps netstat ifconfig ipconfig ping nslookup dig curl wget nc ncat netcat telnet ssh scp ftp tftp
    bash sh zsh ksh csh dash busybox cmd powershell pwsh python python3 perl ruby node php_cli gcc make chmod chown kill rm mv cp mkdir
    rmdir touch echo printf head tail more less sed awk grep egrep find xargs sort tee tar gzip base64 xxd env export set_sh sudo su
    crontab useradd usermod passwd_cmd systemctl service net tasklist taskkill dir type copy del ipaddr hostname timeout exit ifs
    invoke expression_ps iex downloadstring webclient certutil bitsadmin mshta rundll32 regsvr32 wmic cscript wscript frombase64string
    dev tcp mkfifo fifo lua socat rev nohup seq expr`,
  files: `etc passwd shadow hosts group_file proc environ cmdline fd boot ini win windows system32 winnt system drivers inetpub wwwroot
    htaccess htpasswd git svn hg bzr env_file config configuration web inf classes bak backup old swp log logs access_log error_log
    var tmp root home usr bin sbin opt lib ssh_dir authorized_keys id_rsa bash_history known_hosts issue motd fstab apache2 nginx httpd
    conf yml yaml properties xml json lock pem key crt sql sqlite db dump phpmyadmin wp content plugins uploads admin cgi`,
  php: `php phpinfo system_php passthru shell_exec popen proc_open pcntl_exec assert create_function preg_replace call_user_func
    call_user_func_array include include_once require require_once file_get_contents file_put_contents readfile fopen fwrite fputs unlink
    move_uploaded_file base64_decode gzinflate str_rot13 gzuncompress ini_set set_time_limit error_reporting allow_url_include auto_prepend_file
    input filter data expect phar zip glob resource convert_base64 globals _get _post _request _server _cookie _files _session
    highlight_file show_source var_dump print_r die md5 array_map usort extract parse_str unserialize phpunit stdin ogs`,
  template: `class classloader module protectiondomain mro subclasses init globals_py builtins popen_py import_py config_py request application
    self_py cycler joiner namespace lipsum freemarker template utility execute_ftl new getclass forname getruntime runtime processbuilder
    java javax lang io net_java util springframework ognl memberaccess allowstaticmethodaccess servletcontext getmethod invoke_java
    newinstance scriptenginemanager jndi ldap ldaps rmi iiop corba nis env_lookup sys log4j nashorn smarty twig velocity getenv
    velocitycount registerundefinedfiltercallback display raw fetch_tpl render erb ejs process mainmodule child_process spawn execsync
    spawnsync readfilesync global t item range constructor_tpl`,
  nosqli: `ne gt gte lt lte nin regex where_js exists_js elemmatch expr_js lookup mapreduce function_js`,
  ldap: `objectclass uid_ldap cn sn mail givenname memberof userpassword homedirectory samaccountname`,
  mail: `bcc cc to subject content type_mail mime transfer encoding rcpt helo ehlo`,
  xml: `doctype entity system_xml public cdata xinclude xsl stylesheet value_of transform include_xml xmlns schemalocation`,
  deserialization: `rO0AB aced commons collections invokertransformer ysoserial objectinputstream jdbcrowsetimpl templatesimpl autotype
    fastjson xstream beanutils datasource datasourcename binaryformatter typeobject objectdataprovider losformatter viewstate marshal pickle
    cposix posix reduce subprocess os`,
  ssrf: `127 169 localhost metadata internal gopher dict file tftp_url latest meta_data computemetadata 192 172 http https url`,
  graphql: `__schema __type introspectionquery querytype mutationtype fragment mutation query_gql __typename`,
  protocol: `transfer_encoding chunked boundary charset utf`,
  scanner: `sqlmap nikto nmap acunetix nessus burp zap`,
};
