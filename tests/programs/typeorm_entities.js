// TypeORM: entities that know nothing of a hash, with keys by default.
'use strict';
require('reflect-metadata');
const {DataSource, EntitySchema, Like} = require('typeorm');
const {all, attempt, connection, key, keyed, range, serve, values} = require('./steps');

const rest = {label: {type: 'text'}, amount: {type: 'int'}};
const ENTITIES = {
  items: {id: {type: 'bigint', primary: true, generated: 'increment'}},
  documents: {id: {type: 'uuid', primary: true, generated: 'uuid'}},
  events: {userid: {type: 'bigint', primary: true},
           ts: {type: 'timestamptz', primary: true, createDate: true}},
};
const source = new DataSource({
  type: 'postgres', ...connection, username: connection.user, installExtensions: false,
  uuidExtension: 'pgcrypto', poolSize: 2,
  entities: Object.entries(ENTITIES).map(([name, columns]) => new EntitySchema(
    {name, tableName: name, columns: {...columns, ...rest}})),
});
const each = async (work) => {
  if (!source.isInitialized) await source.initialize();
  for (const table of Object.keys(ENTITIES))
    await attempt(table, () => work(source.getRepository(table), table));
};
const find = async (repository, label) => all(await repository.find({
  where: {label: Like(label + '%')}, order: {label: 'ASC', amount: 'ASC'}}));

serve({
  create: () => each(async (repository, table) => {
    const row = await repository.save(values(table, 100, "create it's \\ é"));
    row.amount = 101;
    await repository.save(row);
    const inserted = await repository.insert(values(table, 101, 'create 2'));
    return `${all([row])}, ${inserted.identifiers.length}, ${await find(repository, 'create')}`;
  }),
  bulk: () => each(async (repository, table) => {
    const saved = await repository.save(
      range(200, 220).map((number) => values(table, number, `bulk ${number}`)), {chunk: 8});
    await repository.insert(range(220, 240).map((n) => values(table, n, `bulk ${n}`)));
    return `${all(saved)}, ${await find(repository, 'bulk')}`;
  }),
  transaction: () => each(async (repository, table) => {
    await source.transaction(async (manager) => {
      await manager.getRepository(table).save(values(table, 300, 'transaction 1'));
      await manager.getRepository(table).insert(values(table, 301, 'transaction 2'));
    });
    await source.transaction(async (manager) => {
      await manager.getRepository(table).insert(values(table, 302, 'transaction 3'));
      throw new Error('undone');
    }).catch((failure) => { if (failure.message !== 'undone') throw failure; });
    return find(repository, 'transaction');
  }),
  returning: () => each(async (repository, table) => all((await repository.createQueryBuilder()
    .insert().values([values(table, 400, 'returning 1'), values(table, 401, 'returning 2')])
    .returning([...key[table], 'label', 'amount']).execute()).raw)),
  upsert: () => each(async (repository, table) => {
    for (const amount of [1, 2])
      await repository.upsert({...keyed(table, 500, 'upsert 1'), amount}, key[table]);
    await repository.createQueryBuilder().insert().values(keyed(table, 500, 'upsert 1')).orIgnore()
      .execute();
    const row = await repository.save({...keyed(table, 501, 'upsert 2'), amount: 3});
    await repository.save({...keyed(table, 501, 'upsert 2'), amount: 4});
    return `${all([row])}, ${await find(repository, 'upsert')}`;
  }),
  duplicate: () => each(async (repository, table) => {
    for (const _ of [1, 2]) await repository.insert(keyed(table, 600, 'duplicate'));
  }),
});
