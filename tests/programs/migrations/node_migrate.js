// What TypeORM's synchronize, Sequelize's sync and knex's schema builder make of a table that changes: the statements
// that they send, and what a row of the table is after them.
'use strict';
require('reflect-metadata');
const {DataTypes, Sequelize} = require('sequelize');
const {DataSource, EntitySchema} = require('typeorm');

const env = process.env;
const connection = {host: env.PGHOST, port: +env.PGPORT, user: env.PGUSER, database: env.PGDATABASE};
const print = (...all) => console.log(...all.map((it) => (typeof it === 'string' ? it : JSON.stringify(it))));
const attempt = async (name, work) => {
  try {
    const said = await work();
    print(name, said === undefined ? '' : said);
  } catch (failure) {
    print('refused:', name);
  }
};

// --- TypeORM ---

const id = {type: 'bigint', primary: true, generated: 'increment'};
const userid = {type: 'bigint', primary: true};
const VERSIONS = [
  {items: {columns: {id, label: {type: 'varchar', length: 20}, amount: {type: 'int', default: 0}}},
    documents: {columns: {userid, label: {type: 'text'}}}},
  {items: {columns: {id, label: {type: 'varchar', length: 40, nullable: true}, amount: {type: 'int', default: 3},
    note: {type: 'text', nullable: true}}, indices: [{columns: ['label', 'amount'], name: 'la'}]},
  documents: {columns: {userid, label: {type: 'text', unique: true}}}},
  {items: {columns: {id, label: {type: 'text', nullable: true}, amount: {type: 'numeric', precision: 10, scale: 2, nullable: true},
    remark: {type: 'text', nullable: true, comment: 'what'}},
  uniques: [{columns: ['label', 'id']}], checks: [{expression: 'amount >= 0', name: 'good'}]},
  documents: {columns: {userid, label: {type: 'text'}}}},
  {items: {columns: {id, label: {type: 'text', nullable: true, default: 'é'}}}, documents: {columns: {userid}}},
];
const logger = {logQuery: (text) => /^(ALTER|CREATE|DROP|COMMENT)/.test(text) && print('   ', text)};
for (const other of ['logQueryError', 'logQuerySlow', 'logSchemaBuild', 'logMigration', 'log']) logger[other] = () => {};

function source(version) {
  return new DataSource({
    type: 'postgres', ...connection, username: connection.user, installExtensions: false, logging: true, logger,
    entities: Object.entries(version).map(([name, it]) => new EntitySchema({name, tableName: name, ...it})),
  });
}

async function typeorm() {
  for (const version of VERSIONS) {
    for (const again of [false, true]) { // then there is nothing to do
      const at = await source(version).initialize();
      await attempt(`synchronize ${again}`, () => at.synchronize());
      await attempt('save', () => at.getRepository('items').save({label: 'row'}));
      print('   ', await at.query('select * from items order by id'));
      await at.destroy();
    }
  }
  const at = await source(VERSIONS[3]).initialize();
  const runner = at.createQueryRunner();
  const table = await runner.getTable('items');
  print(table.columns.map((it) => [it.name, it.type, it.isPrimary, it.isGenerated, it.default]));
  await attempt('rename', () => runner.renameColumn('items', 'label', 'title'));
  await attempt('drop the hash', () => runner.query('alter table items drop column id_hash'));
  await attempt('clear', () => runner.clearTable('items'));
  await attempt('drop', () => runner.dropTable('items', true, true, true));
  await attempt('drop', () => runner.dropTable('documents', true, true, true));
  await at.destroy();
}

// --- Sequelize ---

const key = {type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true};
const MODELS = [
  {id: key, label: DataTypes.STRING(20), amount: {type: DataTypes.INTEGER, defaultValue: 0}},
  {id: key, label: {type: DataTypes.TEXT, allowNull: false, defaultValue: 'x'}, amount: {type: DataTypes.DECIMAL(10, 2)}, note: DataTypes.TEXT},
  {id: key, label: {type: DataTypes.STRING(30), comment: 'what'}, remark: DataTypes.JSONB},
];

async function sequelize() {
  const at = new Sequelize(connection.database, connection.user, '', {
    ...connection, dialect: 'postgres',
    logging: (text) => /: (ALTER|CREATE|DROP|COMMENT)/.test(text) && print('   ', text.replace(/^.*?: /, ''))});
  for (const model of MODELS)
    for (const alter of [true, true, {drop: false}])
      await attempt('sync', async () => {
        const items = at.define('items', model, {tableName: 'items', timestamps: false, indexes: [{fields: ['label']}]});
        await items.sync({alter});
        return [await items.create({label: 'row'}), await items.findAll({order: ['id'], raw: true})];
      });
  const asks = at.getQueryInterface();
  await attempt('add', () => asks.addColumn('items', 'extra', {type: DataTypes.INTEGER, defaultValue: 1}));
  await attempt('change', () => asks.changeColumn('items', 'extra', {type: DataTypes.BIGINT, allowNull: false, defaultValue: 2}));
  await attempt('rename', () => asks.renameColumn('items', 'extra', 'more'));
  await attempt('remove', () => asks.removeColumn('items', 'more'));
  await attempt('remove the hash', () => asks.removeColumn('items', 'id_hash'));
  await attempt('rename the hash', () => asks.renameColumn('items', 'id_hash', 'x'));
  await attempt('constrain', () => asks.addConstraint('items', {fields: ['label', 'id'], type: 'unique', name: 'both'}));
  await attempt('describe', () => asks.describeTable('items'));
  await attempt('drop', () => asks.dropTable('items'));
  await at.close();
}

// --- knex ---

const CHANGES = {
  create: (t) => { t.bigIncrements('id'); t.string('label', 20); t.integer('amount').defaultTo(0); },
  add: (t) => { t.text('note').notNullable().defaultTo('n'); t.index(['label', 'amount'], 'la'); t.timestamps(true, true); },
  alter: (t) => { t.text('label').alter(); t.decimal('amount', 10, 2).defaultTo(3).alter(); t.renameColumn('note', 'remark'); },
  null: (t) => { t.setNullable('remark'); t.dropNullable('amount'); },
  unique: (t) => { t.unique(['label', 'id'], {indexName: 'both'}); },
  drop: (t) => { t.dropColumns('remark'); t.dropIndex(['label', 'amount'], 'la'); t.dropUnique(['label', 'id'], 'both'); t.dropTimestamps(); },
  hash: (t) => { t.dropColumn('id_hash'); },
  'drop the key': (t) => { t.dropPrimary(); },
  'add the key': (t) => { t.primary(['id']); },
  'alter the key': (t) => { t.bigInteger('id').alter(); },
};

async function knex() {
  const at = require('knex')({client: 'pg', connection});
  for (const [name, change] of Object.entries(CHANGES)) {
    await attempt(name, () => at.schema[name === 'create' ? 'createTable' : 'alterTable']('items', change));
    await attempt('insert', () => at('items').insert({label: 'row'}).returning(['id', 'label', 'amount']));
    print(Object.keys(await at('items').first()));
  }
  await attempt('documents', () => at.schema.createTable('documents', (t) => { t.bigInteger('userid').primary(); t.text('label'); }));
  await attempt('refer', () => at.schema.alterTable('documents', (t) => { t.bigInteger('item').references('id').inTable('items'); }));
  await attempt('do not', () => at.schema.alterTable('documents', (t) => { t.dropForeign('item'); t.dropColumn('item'); }));
  print(await at('items').columnInfo(), await at.schema.hasColumn('items', 'id_hash'));
  await at.destroy();
}

typeorm().then(sequelize).then(knex).then(() => process.exit(0), (failure) => {
  console.error(failure);
  process.exit(1);
});
