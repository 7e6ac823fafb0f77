import { conf } from './conf.ts';
import type { RenderInput } from './input.ts';

/** The admin socket of nginx. Its folder's permissions decide who may use it. */
export const adminConf = ({ host }: RenderInput) => conf`server {
    listen ${`unix:${host.dir}/run/admin.sock`};
    server_name _;
    access_log off;
    client_max_body_size 64m;
    client_body_buffer_size 1m;
    default_type application/json;
    location / {
        content_by_lua_file ${`${host.luaDir}/edge/phases/admin.lua`};
    }
}
`;
