// What knex, Sequelize and TypeORM ask of a table, and TypeORM's entities of it.
'use strict';
require('reflect-metadata');
const {DataTypes, Sequelize} = require('sequelize');
const {DataSource, EntitySchema} = require('typeorm');

const env = process.env;
const connection = {host: env.PGHOST, port: +env.PGPORT, user: env.PGUSER, database: env.PGDATABASE};
const print = (...all) => console.log(...all.map((it) => JSON.stringify(it)));
const by = (key) => (a, b) => (a[key] < b[key] ? -1 : 1);

async function knex() {
  const ask = require('knex')({client: 'pg', connection});
  for (const table of ['ev', 'other'])
    print(await ask(table).columnInfo(), await ask.schema.hasTable(table), await ask.schema.hasColumn(table, 'userid_hash'));
  await ask.destroy();
}

async function sequelize() {
  const ask = new Sequelize(connection.database, connection.user, '', {...connection, dialect: 'postgres', logging: false});
  const at = ask.getQueryInterface();
  print((await at.showAllTables()).sort());
  for (const table of ['ev', 'other']) {
    print(await at.describeTable(table), (await at.showIndex(table)).sort(by('name')));
    print((await at.showConstraint(table)).sort(by('constraintName')), await at.getForeignKeyReferencesForTable(table));
  }
  const ev = ask.define('ev', {
    userid: {type: DataTypes.BIGINT, primaryKey: true}, ts: {type: DataTypes.DATE, primaryKey: true},
    event: DataTypes.TEXT}, {tableName: 'ev', timestamps: false});
  const logged = [];
  await ev.sync({alter: {drop: false}, logging: (text) => /ALTER|DROP/.test(text) && logged.push(text)});
  print(logged);
  await ask.close();
}

async function typeorm() {
  const source = new DataSource({
    type: 'postgres', ...connection, username: connection.user, installExtensions: false,
    entities: [new EntitySchema({name: 'ev', tableName: 'ev', columns: {
      userid: {type: 'bigint', primary: true}, ts: {type: 'timestamptz', primary: true},
      event: {type: 'text', nullable: true, default: 'e'},
      amount: {type: 'numeric', precision: 8, scale: 2}}})]});
  await source.initialize();
  const runner = source.createQueryRunner();
  for (const table of await runner.getTables(['public.ev', 'public.other'])) {
    table.indices.forEach((it) => it.columnNames.sort()); // asked for in no order
    print(table.name, table.columns, table.primaryColumns.map((it) => it.name), table.indices.sort(by('name')), table.uniques,
      table.checks.sort(by('name')), table.comment);
  }
  print((await source.driver.createSchemaBuilder().log()).upQueries.map((it) => it.query));
  await source.destroy();
}

knex().then(sequelize).then(typeorm).catch((error) => {
  console.log(error);
  process.exitCode = 1;
});
