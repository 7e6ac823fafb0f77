import { palette } from '@edgeloom/contract/palette/palette.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './palette.service.ts';

export const paletteRoutes = routes(palette, {
  search: (ctx, { query }) => service.search(ctx, query),
});
