// MikroORM's first days: the schema made, compared and changed; rows made, read by their keys, found, counted, joined, locked, changed
// and deleted, in transactions with savepoints.
'use strict';
const {LockMode, MikroORM, EntitySchema} = require('@mikro-orm/postgresql');

const env = process.env;
const print = (...all) => console.log(...all.map((it) => (typeof it === 'string' ? it : JSON.stringify(it))));
const attempt = async (name, work) => {
  try {
    print(name, (await work()) ?? '');
  } catch (failure) {
    print(name, failure.constructor.name, failure.code ?? '', failure.detail ?? failure.message);
  }
};
const text = {type: 'string'};
const entities = (note) => [
  new EntitySchema({name: 'Item', tableName: 'items', properties: {
    id: {type: 'number', primary: true}, label: {...text, unique: true}, version: {type: 'number', version: true},
    tags: {type: 'string[]', nullable: true}, documents: {kind: '1:m', entity: 'Document', mappedBy: 'item'},
    ...(note ? {note: {...text, nullable: true, index: true}} : {})}}),
  new EntitySchema({name: 'Document', tableName: 'documents', properties: {
    id: {type: 'uuid', primary: true, defaultRaw: 'gen_random_uuid()'}, label: text, body: {type: 'json', nullable: true},
    item: {kind: 'm:1', entity: 'Item', deleteRule: 'cascade'}, topics: {kind: 'm:n', entity: 'Topic', owner: true}}}),
  new EntitySchema({name: 'Topic', tableName: 'topics', properties: {id: {type: 'bigint', primary: true}, name: text}}),
  new EntitySchema({name: 'Event', tableName: 'events', properties: {
    userid: {type: 'number', primary: true}, ts: {type: 'Date', primary: true}, count: {type: 'number', default: 0}}}),
];

async function schema(orm) {
  const generator = orm.getSchemaGenerator();
  print('changes', await generator.getUpdateSchemaSQL());
  await generator.updateSchema();
  print('left to change', await generator.getUpdateSchemaSQL());
}

async function rows(orm) {
  const em = () => orm.em.fork();
  await attempt('made', async () => {
    const it = em();
    for (let i = 0; i < 20; i++) {
      const item = it.create('Item', {label: `item ${i}`, tags: ['é', "x'"]});
      for (let j = 0; j < 3; j++) it.create('Document', {label: `${i} ${j}`, body: {j}, item});
    }
    await it.flush();
    return [await it.count('Item'), await it.count('Document')];
  });
  await attempt('many to many', async () => {
    const it = em();
    const topics = ['a', 'b'].map((name) => it.create('Topic', {name}));
    for (const one of await it.find('Document', {label: /^1 /}, {populate: ['topics']})) one.topics.add(...topics);
    await it.flush();
    return (await em().find('Document', {topics: {name: 'b'}}, {orderBy: {label: 1}})).map((one) => one.label);
  });
  await attempt('found', async () => (await em().find('Item', {label: {$like: 'item 1%'}}, {populate: ['documents'], orderBy: {id: 1}}))
    .map((one) => [one.id, one.label, one.documents.length, one.tags]));
  await attempt('page', async () => {
    const [found, count] = await em().findAndCount('Document', {}, {limit: 3, offset: 5, orderBy: {label: 1}});
    return [found.map((one) => one.label), count];
  });
  await attempt('query', async () => em().createQueryBuilder('Item', 'i').select(['i.id', 'i.label']).where({id: {$gt: 17}}).orderBy({id: 'desc'}).execute());
  await attempt('one by one', async () => {
    await Promise.all([...Array(40).keys()].map((userid) => em().insert('Event', {userid, ts: new Date(3e11)})));
    return em().count('Event');
  });
  await attempt('many', async () => (await em().insertMany('Event', [1, 2, 3].map((userid) => ({userid, ts: new Date(4e11)})))).length);
  await attempt('upsert', async () => {
    const it = em();
    const one = await it.upsert('Event', {userid: 1, ts: new Date(3e11), count: 5});
    const more = await it.upsertMany('Event', [{userid: 1, ts: new Date(3e11), count: 7}, {userid: 99, ts: new Date(3e11), count: 8}]);
    return [one.count, more.map((event) => event.count)];
  });
  await attempt('again', () => em().insert('Event', {userid: 1, ts: new Date(3e11)}));
  await attempt('not unique', () => em().insert('Item', {label: 'item 1', version: 1}));
  await attempt('no such item', () => em().insert('Document', {label: 'x', item: 99999}));
}

async function changes(orm) {
  const em = () => orm.em.fork();
  await attempt('changed', async () => {
    const it = em();
    const item = await it.findOneOrFail('Item', {label: 'item 3'});
    item.label = 'new';
    await it.flush();
    return [item.version, (await em().findOneOrFail('Item', item.id)).label];
  });
  await attempt('changed by two', async () => {
    const it = em();
    const item = await it.findOneOrFail('Item', {label: 'item 4'});
    await em().nativeUpdate('Item', {id: item.id}, {version: 9});
    item.label = 'late';
    await it.flush();
  });
  await attempt('locked', () => em().transactional(async (it) => (await it.findOne('Item', 5, {lockMode: LockMode.PESSIMISTIC_WRITE})).label));
  await attempt('savepoints', async () => {
    await em().transactional(async (it) => {
      it.create('Topic', {name: 'outer'});
      await it.flush();
      await it.transactional(async (inner) => inner.create('Topic', {name: 'inner'}));
      await it.transactional(async (inner) => {
        inner.create('Topic', {name: 'lost'});
        await inner.flush();
        throw new Error('undone');
      }).catch(() => {});
    });
    return (await em().find('Topic', {}, {orderBy: {id: 1}})).map((one) => one.name);
  });
  await attempt('removed', async () => {
    const it = em();
    it.remove(await it.findOneOrFail('Item', {label: 'item 7'}));
    await it.flush();
    return [await it.count('Document'), await it.nativeDelete('Event', {userid: {$gte: 30}})];
  });
}

async function opened(note, work) {
  const orm = await MikroORM.init({entities: entities(note), host: env.PGHOST, port: Number(env.PGPORT), user: env.PGUSER, password: 'none',
    dbName: env.PGDATABASE, logger: () => {}});
  await work(orm);
  await orm.close();
}

async function run() {
  await opened(false, async (orm) => {
    await schema(orm);
    await rows(orm);
  });
  await opened(true, async (orm) => {
    await schema(orm);
    await changes(orm);
  });
}
run();
