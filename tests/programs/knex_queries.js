// knex: its query builder, with RETURNING, transactions and onConflict.
'use strict';
const {all, attempt, connection, key, keyed, range, serve, values} = require('./steps');

const knex = require('knex')({client: 'pg', connection});
const each = async (work) => {
  for (const table of Object.keys(key))
    await attempt(table, () => work(table, [...key[table], 'label', 'amount']));
};
const find = async (table, label) => all(await knex(table).where('label', 'like', label + '%')
  .orderBy(['label', 'amount']));

serve({
  create: () => each(async (table) => {
    await knex(table).insert(values(table, 100, "create it's \\ é"));
    await knex(table).where({amount: 100}).update({amount: 101});
    return find(table, 'create');
  }),
  bulk: () => each(async (table) => {
    const rows = range(200, 220).map((number) => values(table, number, `bulk ${number}`));
    await knex(table).insert(rows);
    await knex.batchInsert(table, range(220, 240).map((n) => values(table, n, `bulk ${n}`)), 8);
    return find(table, 'bulk');
  }),
  transaction: () => each(async (table) => {
    await knex.transaction(async (trx) => {
      await trx(table).insert(values(table, 300, 'transaction 1'));
      await trx.transaction((inner) => inner(table).insert(values(table, 301, 'transaction 2')));
    });
    await knex.transaction(async (trx) => {
      await trx(table).insert(values(table, 302, 'transaction 3'));
      throw new Error('undone');
    }).catch((failure) => { if (failure.message !== 'undone') throw failure; });
    return find(table, 'transaction');
  }),
  returning: () => each(async (table, columns) => all(
    await knex(table).insert([values(table, 400, 'returning 1'), values(table, 401, 'returning 2')],
                             columns))),
  upsert: () => each(async (table) => {
    const row = keyed(table, 500, 'upsert 1');
    for (const amount of [1, 2])
      await knex(table).insert({...row, amount}).onConflict(key[table]).merge();
    await knex(table).insert({...row, amount: 3}).onConflict(key[table]).merge(['amount']);
    await knex(table).insert({...row, amount: 4}).onConflict().ignore();
    return find(table, 'upsert');
  }),
  duplicate: () => each(async (table) => {
    for (const _ of [1, 2]) await knex(table).insert(keyed(table, 600, 'duplicate'));
  }),
});
