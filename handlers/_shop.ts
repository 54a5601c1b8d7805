import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { z } from 'zod';
import { openDatabase } from './_database.js';

/** What a shop keeps: its stock, what of it is reserved, its invoices, its parcels. */
const schema = `
  CREATE TABLE IF NOT EXISTS stock (sku TEXT PRIMARY KEY, quantity INTEGER NOT NULL CHECK (quantity >= 0));
  CREATE TABLE IF NOT EXISTS reservation (
    id TEXT NOT NULL,
    order_id TEXT NOT NULL,
    sku TEXT NOT NULL,
    reserved INTEGER NOT NULL,
    picked INTEGER NOT NULL DEFAULT 0 CHECK (picked <= reserved),
    PRIMARY KEY (id, sku)
  );
  CREATE TABLE IF NOT EXISTS invoice (number INTEGER PRIMARY KEY AUTOINCREMENT, order_id TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS parcel (tracking TEXT PRIMARY KEY, order_id TEXT NOT NULL, parcels INTEGER NOT NULL, scans INTEGER NOT NULL DEFAULT 0);`;

/** The shop's books lie in its folder, beside its letters and invoices. */
export const openShop = (folder: string): Database.Database => openDatabase(join(folder, 'shop.db'), schema);

export const itemSchema = z.object({ sku: z.string(), qty: z.int().positive() });

/** A list may name an article twice. */
export function addUpItems(items: readonly z.infer<typeof itemSchema>[]): Map<string, number> {
  const quantities = new Map<string, number>();
  for (const { sku, qty } of items) quantities.set(sku, (quantities.get(sku) ?? 0) + qty);
  return quantities;
}
