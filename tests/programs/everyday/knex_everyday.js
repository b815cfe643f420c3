// knex's and node-postgres's first days: migrations forth and back, seeds; rows made, read by their keys, found, counted, cut into pages,
// joined, locked, changed and deleted, in transactions with savepoints; prepared statements, LISTEN.
'use strict';
const {Client, Pool} = require('pg');

const env = process.env;
const connection = {host: env.PGHOST, port: +env.PGPORT, user: env.PGUSER, database: env.PGDATABASE};
const knex = require('knex')({client: 'pg', connection, pool: {max: 3}});
const print = (...all) => console.log(...all.map((it) => (typeof it === 'string' ? it : JSON.stringify(it))));
const attempt = async (name, work) => {
  try {
    print(name, (await work()) ?? '');
  } catch (failure) {
    print(name, failure.code ? `E${failure.code}` : '', failure.message, (failure.detail ?? '').replace(/^Key \(id\)=\(\d+\)/, 'Key (id)'));
  }
};

const MIGRATIONS = {
  '1_first': {
    up: async (at) => {
      await at.schema.createTable('items', (t) => {
        t.bigIncrements('id');
        t.string('label', 40).notNullable().index();
        t.decimal('amount', 10, 2).defaultTo(0);
        t.timestamp('deleted_at');
        t.check('amount >= 0', [], 'good');
      });
      await at.schema.createTable('documents', (t) => {
        t.uuid('id').primary().defaultTo(at.fn.uuid());
        t.bigInteger('item_id').references('items.id').onDelete('cascade').index();
        t.text('label').unique();
        t.jsonb('body').defaultTo('{}');
        t.specificType('tags', 'text[]');
        t.enu('kind', ['a', 'b']).defaultTo('a');
      });
      await at.schema.createTable('events', (t) => {
        t.bigInteger('userid');
        t.timestamp('ts', {precision: 3}).defaultTo(at.fn.now(3));
        t.text('label');
        t.primary(['userid', 'ts']);
      });
    },
    down: async (at) => {
      for (const table of ['events', 'documents', 'items']) await at.schema.dropTable(table);
    }},
  '2_second': {
    up: async (at) => {
      await at.schema.alterTable('items', (t) => { t.text('note').defaultTo('n'); t.index(['amount', 'label'], 'by_amount'); });
      await at.schema.createTableLike('copies', 'items');
      await at('items').insert({label: 'by a migration'});
      await at.schema.createView('noted', (v) => { v.columns(['id', 'note']); v.as(at('items').select('id', 'note')); });
    },
    down: async (at) => {
      await at.schema.dropView('noted');
      await at.schema.dropTable('copies');
      await at('items').where({label: 'by a migration'}).del();
      await at.schema.alterTable('items', (t) => { t.dropIndex([], 'by_amount'); t.dropColumn('note'); });
    }},
};
const migrationSource = {
  getMigrations: async () => Object.keys(MIGRATIONS), getMigrationName: (name) => name, getMigration: async (name) => MIGRATIONS[name]};

async function migrate() {
  for (const step of ['latest', 'latest', 'rollback', 'up', 'up', 'down', 'currentVersion', 'latest', 'status', 'list'])
    await attempt(step, () => knex.migrate[step]({migrationSource}));
  print(await knex('knex_migrations').select('name', 'batch').orderBy('id'), await knex('noted'), await knex('items').columnInfo());
  await attempt('a default of the whole', () => knex.schema.hasTable('copies'));
  await attempt('a copy', () => knex('copies').insert(knex('items').select('id', 'label', 'amount'), ['id', 'label']));
}

async function useItems() {
  const keys = (await knex('items').insert(Array.from({length: 12}, (_, n) => ({label: `item ${n}`, amount: n * 10})), 'id')).map((it) => it.id);
  const one = keys[3];
  const counted = (item) => ({...item, id: item.id - keys[0]});  // Numbers of a sequence may be left out.
  print(counted(await knex('items').where({id: one}).first()), await knex('items').whereIn('id', keys.slice(0, 3)).count());
  print(await knex('items').where({id: one}).update({id: one, label: 'changed'}, ['label', 'amount']), await knex('items').where('amount', '>', 50).increment('amount', 1));
  for (let page = 0; page < 3; page++)
    print(await knex('items').orderBy([{column: 'amount', order: 'desc'}, 'label']).limit(4).offset(4 * page).pluck('label'));
  print(await knex('items').sum('amount as s').max('label as m').avg({a: 'amount'}), await knex('items').distinct('deleted_at'));
  print(await knex('items').select(knex.raw('amount > 40 as much')).count('* as n').groupBy('much').orderBy('n'));
  print(await knex('items').whereBetween('amount', [10, 40]).orWhere('label', 'ilike', 'CH%').whereNot({label: 'x'}).orderBy('label').pluck('label'));
  print(await knex('items').where({id: one}).update({deleted_at: '2026-01-02'}), await knex('items').whereNull('deleted_at').count('id as n'));
  print(await knex('items').where({id: keys[8]}).del(), await knex('items').where({label: 'item 9'}).del('label'), await knex('items').where({id: keys[8]}));
  await knex.transaction(async (trx) => {
    print((await trx('items').forUpdate().where({id: one}).first()).label, (await trx('items').forUpdate().skipLocked()).length);
  });
  print((await knex.raw('select * from items where id = ?', [one])).fields.map((field) => field.name), (await knex.raw('select ?::int + :n', [1]).catch(() => 'no')));
  print(await knex('items').insert({id: one, label: 'merged', amount: 1}).onConflict('id').merge({label: 'merged'}).returning('label'));
  print(await knex('items').select('label').rowNumber('n', 'label').limit(2), (await knex.with('some', knex('items').where({id: one})).from('some').select()).map(counted));
  print(await knex('items').select('label').union(knex('documents').select('label')).orderBy('label').limit(3));
}

async function useRelations() {
  const [one, other] = await knex('items').orderBy('id').limit(2);
  await knex('documents').insert([0, 1, 2, 3].map((n) => ({item_id: one.id, label: `document ${n}`, body: {n}, tags: ['a', `b${n}`]})));
  const document = await knex('documents').where({label: 'document 1'}).first();
  print((await knex('documents').where({id: document.id}).first()).body, await knex('documents').where({id: document.id}).update({kind: 'b'}));
  print(await knex('items').join('documents', 'documents.item_id', 'items.id').select('items.label as item', 'documents.label').orderBy('documents.label'));
  print(await knex('items').leftJoin('documents as d', 'd.item_id', 'items.id').whereNull('d.id').count(), Object.keys(await knex('items').join('documents', 'documents.item_id', 'items.id').first()));
  print(await knex('items').whereExists(knex('documents').whereRaw('documents.item_id = items.id')).pluck('label'));
  print(await knex('documents').whereJsonPath('body', '$.n', '>', 1).orderBy('label').pluck('label'), await knex('documents').whereRaw('? = any(tags)', ['b1']).pluck('label'));
  print(await knex('items').join('documents', 'documents.item_id', 'items.id').groupBy('items.id').havingRaw('count(*) > 1').select('items.label').count('documents.id as n'));
  print(await knex('documents').where({label: 'document 0'}).update({item_id: other.id}), (await knex(knex.raw('documents (label)')).insert(
    knex('items').select(knex.raw("'copy of ' || label")).whereLike('label', 'item 1%').orderBy('id'))).rowCount);
  await attempt('twice', () => knex('documents').insert([{label: 'd'}, {label: 'd'}]));
  await attempt('nothing', () => knex('documents').insert({label: 'e', item_id: 1e9}));
  await attempt('no kind', () => knex('documents').insert({label: 'e', kind: 'c'}));
  print(await knex('items').where({id: one.id}).del(), await knex('documents').orderBy('label').pluck('label'));
}

async function useEvents() {
  const rows = await knex('events').insert([0, 1, 2, 3, 4].map((n) => ({userid: n, label: `event ${n}`})), ['userid', 'ts']);
  const key = rows[2];
  print((await knex('events').where(key).first()).label, await knex('events').where(key).update({label: 'changed'}));
  print(await knex('events').whereIn(['userid', 'ts'], rows.slice(2, 4).map((it) => [it.userid, it.ts])).orderBy('userid').pluck('label'));
  print(await knex('events').where(key).update({userid: 100}), await knex('events').where({...key, userid: 100}).del(), await knex('events').count());
  print(await knex('events').where({userid: 1}).del(['userid', 'label']), await knex('events').orderBy('userid', 'desc').pluck('label'));
}

async function useTransactions() {
  await knex.transaction(async (trx) => {
    await trx('items').insert({label: 'kept'});
    for (const label of ['lost', 'kept too'])
      await attempt(label, () => trx.transaction(async (inner) => {
        await inner('items').insert({label});
        if (label === 'lost') throw new Error('undone');
      }));
    await attempt('twice', () => trx.transaction((inner) => inner('items').insert({id: trx('items').min('id'), label: 'twice'})));
  });
  const trx = await knex.transaction({isolationLevel: 'serializable'});
  print(await trx('items').where('label', '~', 'kept|lost').orderBy('label').pluck('label'));
  await trx.rollback();
  const reading = await knex.transaction({readOnly: true});
  await attempt('read only', () => reading('items').insert({label: 'no'}));
  await reading.rollback();
  await knex.transaction((at) => knex('items').transacting(at).insert({label: 'last'}));
  await knex('events').truncate();
  print(await knex('items').count(), await knex('events').count());
}

async function useNodePostgres() {
  const pool = new Pool({...connection, max: 2});
  const listening = new Client({...connection, statement_timeout: 10000, application_name: 'ears', options: '-c search_path=public'});
  await listening.connect();
  const heard = new Promise((resolve) => listening.once('notification', (it) => resolve([it.channel, it.payload])));
  await listening.query('LISTEN items');
  await pool.query("NOTIFY items, 'new'");
  print(await heard);
  const first = Number((await pool.query('select min(id) from items')).rows[0].min);
  for (let n = -1; n < 2; n++)
    print((await pool.query({name: 'find', text: 'select label from items where id = $1', values: [first + n]})).rows);
  const result = await pool.query({text: 'select * from items order by id limit 2', rowMode: 'array'});
  print(result.fields.map((it) => it.name), result.rows.map(([id, ...rest]) => [id - first, ...rest]), result.rowCount, result.command);
  print((await pool.query(`select 1 as a; update items set note = 'two at once' where id = ${first} returning note; select count(*) from items`)).map((it) => it.rows));
  await attempt('wrong', () => pool.query('insert into items (label, nothing) values ($1, $2)', ['a', 'b']));
  await attempt('null', () => pool.query('insert into items (label) values ($1)', [null]));
  await attempt('slow', () => listening.query({text: 'set statement_timeout = 50; select pg_sleep(10)'}));
  print((await Promise.all([1, 2, 3, 4].map((n) => pool.query('insert into documents (label, body) values ($1, $2) returning label, body', [`many ${n}`, {n}])))).map((it) => it.rows[0]));
  print((await listening.query('select count(*) from items where label = any($1)', [['last', 'item 0']])).rows);
  await listening.end();
  await pool.end();
}

async function all() {
  for (const step of [migrate, useItems, useRelations, useEvents, useTransactions, useNodePostgres]) {
    print('---', step.name);
    await step();
  }
}

all().then(() => process.exit(0), (failure) => {
  console.error(failure);
  process.exit(1);
});
