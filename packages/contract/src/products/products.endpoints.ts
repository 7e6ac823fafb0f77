import * as z from 'zod';
import { Id, Ids, Meta, MetaQuery, paged, paging } from '../common/common.ts';
import { del, get, onClient, onUser, post, put } from '../endpoint.ts';
import { Product, ProductInput, ProductUpdate } from './products.ts';

export const products = onClient('products', {
  list:   get('products', { can: 'product:read', query: paging(['createdAt', 'name', 'updatedAt']).extend({ name: z.string().max(256).optional(), zoneID: Id.optional() }), reply: paged(Product) }),
  meta:   get('metaProducts', { can: 'product:read', query: MetaQuery, reply: Meta }),
  get:    get('product/:productID', { can: 'product:read', reply: Product }),
  create: post('product', { can: 'product:write', body: ProductInput, reply: Product, fails: ['DUPLICATED'] }),
  update: put('product', { can: 'product:write', body: ProductUpdate, reply: Product, fails: ['DUPLICATED', 'PRODUCT_IN_USE'] }),
  remove: del('product', { can: 'product:write', body: Ids, reply: Ids, fails: ['PRODUCT_IN_USE'] }),
});

/** Customers see the products of their sites, without price and zone. */
export const ownProducts = onUser('ownProducts', {
  list: get('products', { can: 'site:read', query: z.object({ page: z.int().min(1).default(1), pageSize: z.int().min(1).max(500).default(500).describe('All at once: there are few, and they are chosen from'), productIDs: z.array(Id).max(500).optional(), name: z.string().max(256).optional() }), reply: paged(Product.pick({ id: true, name: true, domainLimit: true, portLimit: true, autoCertificateLimit: true, maxConnections: true, responseMbps: true, overLimitAction: true, domainLock: true, autoSSL: true, minTLS: true })) }),
});
