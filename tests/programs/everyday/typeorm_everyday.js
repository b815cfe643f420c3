// TypeORM's first days: synchronize twice, migrations forth and back; rows made, read by their keys, found, counted, cut into pages,
// joined, locked, changed, deleted softly and for good, in transactions with savepoints; schema log.
'use strict';
require('reflect-metadata');
const {DataSource, EntitySchema, In, Between, ILike, IsNull, MoreThan, Not, Raw} = require('typeorm');

const env = process.env;
const print = (...all) => console.log(...all.map((it) => (typeof it === 'string' ? it : JSON.stringify(it))));
const labels = (rows) => rows.map((row) => row.label);
const attempt = async (name, work) => {
  try {
    print(name, (await work()) ?? '');
  } catch (failure) {
    print(name, failure.constructor.name, failure.message, failure.detail ?? '');
  }
};
const schema = (name, tableName, columns, more) => new EntitySchema({name, tableName, columns, ...more});
const entities = (note) => [
  schema('Item', 'items', {
    id: {type: 'bigint', primary: true, generated: 'increment'}, label: {type: 'varchar', length: 40},
    amount: {type: 'numeric', precision: 10, scale: 2, default: 0}, version: {type: 'int', version: true},
    deleted: {type: 'timestamptz', deleteDate: true}, made: {type: 'timestamptz', createDate: true},
    ...(note ? {note: {type: 'text', nullable: true}} : {}),
  }, {indices: [{columns: ['label']}], checks: [{expression: 'amount >= 0', name: 'good'}],
      relations: {documents: {type: 'one-to-many', target: 'Document', inverseSide: 'item', cascade: true}}}),
  schema('Document', 'documents', {
    id: {type: 'uuid', primary: true, generated: 'uuid'}, label: {type: 'text', unique: true}, body: {type: 'jsonb', default: {}},
    tags: {type: 'text', array: true, nullable: true}, kind: {type: 'enum', enum: ['a', 'b'], default: 'a'},
  }, {relations: {
    item: {type: 'many-to-one', target: 'Item', inverseSide: 'documents', onDelete: 'CASCADE', joinColumn: {name: 'item_id'}},
    topics: {type: 'many-to-many', target: 'Topic', joinTable: true}}}),
  schema('Topic', 'topics', {id: {type: 'int', primary: true, generated: 'identity'}, name: {type: 'text', unique: true}}),
  schema('Event', 'events', {userid: {type: 'bigint', primary: true}, ts: {type: 'timestamptz', precision: 3, primary: true, createDate: true},
                             label: {type: 'text', nullable: true}}),
];

class First1700000000001 {
  async up(runner) {
    await runner.query('create table papers (id serial primary key, label text)');
    await runner.query("insert into papers (label) values ('a'), ('b')");
    await runner.query('alter table items add constraint both_one unique (label, id)');
  }

  async down(runner) {
    await runner.query('alter table items drop constraint both_one');
    await runner.dropTable('papers');
  }
}
class Second1700000000002 {
  async up(runner) {
    await runner.query("alter table papers add note text not null default 'n'");
    await runner.query('create index concurrently by_note on papers (note)');
  }

  async down(runner) {
    await runner.query('alter table papers drop column note');
  }
}
Second1700000000002.prototype.transaction = false;

const source = (more) => new DataSource({
  type: 'postgres', host: env.PGHOST, port: +env.PGPORT, username: env.PGUSER, database: env.PGDATABASE, entities: entities(), uuidExtension: 'pgcrypto',
  installExtensions: false, migrations: [First1700000000001, Second1700000000002], ...more});

async function migrate() {
  for (const note of [false, false, true, false]) {
    const at = await source({entities: entities(note), synchronize: true}).initialize();
    const queries = (await at.driver.createSchemaBuilder().log()).upQueries;
    print('synchronized', queries.map((it) => it.query));
    await at.destroy();
  }
  const at = await source().initialize();
  print((await at.runMigrations({transaction: 'each'})).map((it) => it.name), await at.showMigrations());
  print(await at.query('select * from papers order by id'));
  await at.undoLastMigration({transaction: 'none'});
  await at.undoLastMigration();
  print(await at.showMigrations());
  const runner = at.createQueryRunner();
  print((await runner.getTables(['public.items', 'public.events', 'public.papers'])).map((it) => [it.name, it.columns.map((column) => column.name).sort()]));
  await runner.release();
  await at.synchronize(true);
  await at.runMigrations({transaction: 'none'});
  return at;
}

async function useItems(at) {
  const items = at.getRepository('Item');
  const all = [];
  for (let n = 0; n < 12; n++) all.push(await items.save({label: `item ${n}`, amount: n * 10}));
  const one = all[3];
  print((await items.findOneBy({id: one.id})).label, await items.countBy({id: In(all.slice(0, 3).map((it) => it.id))}));
  await items.save({id: one.id, label: 'changed'});
  await items.increment({id: one.id}, 'amount', 1.5);
  const found = await items.findOneByOrFail({id: one.id});
  print(found.label, found.amount, found.version, Object.keys(found), (await items.findOne({where: {label: 'item 5'}})).id === all[5].id);
  print((await items.update({amount: MoreThan(50)}, {amount: () => 'amount + 1'})).affected, (await items.update(one.id, {amount: 7})).affected);
  for (let page = 0; page < 3; page++) {
    const [rows, count] = await items.findAndCount({order: {amount: 'DESC', label: 'ASC'}, take: 4, skip: 4 * page});
    print(count, labels(rows));
  }
  print(await items.sum('amount'), await items.maximum('amount'), await items.exists({where: {label: 'x'}}));
  print(await items.createQueryBuilder('i').select('amount > 40', 'much').addSelect('count(*)', 'n').groupBy('much').orderBy('n').getRawMany());
  print(labels(await items.find({where: [{amount: Between(10, 40)}, {label: ILike('CH%')}], order: {label: 'ASC'}})));
  print(labels(await items.find({where: {label: Not('x'), amount: Raw((name) => `${name} < 30`)}, order: {label: 'ASC'}, select: {label: true}})));
  await items.softDelete(one.id);
  print(await items.count(), await items.countBy({deleted: Not(IsNull())}), (await items.find({withDeleted: true})).length);
  await items.restore(one.id);
  print((await items.delete(all[8].id)).affected, (await items.softRemove(all[7])).label, labels([await items.remove(all[9])]), await items.count());
  await at.transaction(async (manager) => {
    print((await manager.findOne('Item', {where: {id: one.id}, lock: {mode: 'pessimistic_write'}})).label);
    print((await manager.find('Item', {lock: {mode: 'pessimistic_partial_write'}})).length);
  });
  await attempt('stale', () => items.findOne({where: {id: one.id}, lock: {mode: 'optimistic', version: 77}}));
  print((await at.query('select * from items where id = $1', [one.id])).map(Object.keys));
  print((await items.upsert({id: one.id, label: 'upserted'}, ['id'])).identifiers.length, (await items.findOneBy({id: one.id})).label);
  print((await items.createQueryBuilder().update().set({label: 'returned'}).where({id: one.id}).returning(['label', 'amount']).execute()).raw);
  const stream = await items.createQueryBuilder('i').orderBy('i.id').getQuery();
  print((await at.query(stream)).length, (await items.preload({id: one.id, label: 'preloaded'})).label);
}

async function useRelations(at) {
  const [items, documents, topics] = ['Item', 'Document', 'Topic'].map((name) => at.getRepository(name));
  const [one, other] = await items.find({order: {id: 'ASC'}, take: 2});
  one.documents = [0, 1, 2, 3].map((n) => ({label: `document ${n}`, body: {n}, tags: ['a', `b${n}`]}));
  await items.save(one);
  print((await documents.find({relations: {item: true}, order: {label: 'ASC'}})).map((it) => [it.label, it.kind, it.item.label]));
  print((await items.find({relations: {documents: true}, where: {id: one.id}, order: {documents: {label: 'DESC'}}})).map((it) => labels(it.documents)));
  print((await items.createQueryBuilder('i').leftJoinAndSelect('i.documents', 'd').where('d.label like :l', {l: 'doc%'}).orderBy('i.id').addOrderBy('d.label')
    .skip(0).take(5).getMany()).map((it) => [it.label, labels(it.documents)]));
  print(await items.createQueryBuilder('i').innerJoin('i.documents', 'd').select('i.label', 'label').addSelect('count(d.id)', 'n').groupBy('i.id').getRawMany());
  print(await documents.countBy({item: {id: one.id}}), labels(await documents.find({where: {body: Raw((name) => `${name} @> '{"n": 2}'`)}})));
  const red = await topics.save({name: 'red'});
  const blue = await topics.save({name: 'blue'});
  const first = await documents.findOneBy({label: 'document 0'});
  await documents.save({...first, topics: [red, blue]});
  await documents.save({...first, topics: [blue]});
  print((await documents.find({relations: {topics: true}, where: {topics: {name: 'blue'}}})).map((it) => [it.label, it.topics.map((topic) => topic.name)]));
  await at.createQueryBuilder().relation('Document', 'item').of(first.id).set(other.id);
  await documents.update({label: In(['document 1'])}, {item: other, kind: 'b'});
  await attempt('twice', () => documents.save([{label: 'd'}, {label: 'd'}]));
  await attempt('nothing', () => documents.insert({label: 'e', item: {id: 1e9}}));
  await attempt('too little', () => items.insert({label: 'little', amount: -1}));
  await items.remove(one);
  print(labels(await documents.find({order: {label: 'ASC'}})));
}

async function useEvents(at) {
  const events = at.getRepository('Event');
  const all = [];
  for (let n = 0; n < 6; n++) all.push(await events.save({userid: n, label: `event ${n}`}));
  const {userid, ts} = all[2];
  print((await events.findOneBy({userid, ts})).label, (await events.upsert({userid, ts, label: 'changed'}, ['userid', 'ts'])).identifiers.length, await events.count());
  print((await events.find({where: [{userid: 1, ts: all[1].ts}, {userid, ts}], order: {userid: 'ASC'}})).map((it) => it.label));
  print((await events.update({userid, ts}, {userid: 100})).affected, (await events.delete({userid: 100, ts})).affected, await events.countBy({userid}));
  await events.remove(all[3]);
  print(labels(await events.find({order: {userid: 'DESC'}})));
}

async function useTransactions(at) {
  await at.transaction(async (manager) => {
    await manager.insert('Item', {label: 'kept'});
    for (const label of ['lost', 'kept too'])
      await attempt(label, () => manager.transaction(async (inner) => {
        await inner.insert('Item', {label});
        if (label === 'lost') throw new Error('undone');
      }));
  });
  await at.transaction('SERIALIZABLE', async (manager) => {
    print(labels(await manager.find('Item', {where: {label: Raw((name) => `${name} ~ 'kept|lost'`)}, order: {label: 'ASC'}})));
    await manager.insert('Item', [{label: 'many'}, {label: 'many'}]);
  });
  print(await at.getRepository('Item').countBy({label: 'many'}));
  await attempt('clear', () => at.getRepository('Event').clear());
  print(await at.getRepository('Event').count());
}

async function all() {
  const at = await migrate();
  for (const step of [useItems, useRelations, useEvents, useTransactions]) {
    print('---', step.name);
    await step(at);
  }
}

all().then(() => process.exit(0), (failure) => {
  console.error(failure);
  process.exit(1);
});
