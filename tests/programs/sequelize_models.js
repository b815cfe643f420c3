// Sequelize: models that know nothing of a hash, with keys by default.
'use strict';
const {DataTypes, Sequelize, literal} = require('sequelize');
const {all, attempt, connection, key, keyed, range, serve, shown, values} = require('./steps');

const sequelize = new Sequelize(connection.database, connection.user, '', {
  ...connection, dialect: 'postgres', logging: false, pool: {max: 2}});
const define = (name, columns) => sequelize.define(name, {
  ...columns, label: DataTypes.TEXT, amount: DataTypes.INTEGER,
}, {tableName: name, timestamps: false});
const MODELS = {
  items: define('items', {id: {type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true}}),
  documents: define('documents', {id: {
    type: DataTypes.UUID, primaryKey: true, defaultValue: literal('gen_random_uuid()')}}),
  events: define('events', {
    userid: {type: DataTypes.BIGINT, primaryKey: true},
    ts: {type: DataTypes.DATE, primaryKey: true, defaultValue: literal('now()')}}),
};
const each = async (work, how) => {
  for (const table of Object.keys(MODELS))
    await attempt(how ? `${table} ${how}` : table, () => work(MODELS[table], table));
};
const find = async (model, label) => all(await model.findAll({
  where: {label: {[Sequelize.Op.startsWith]: label}}, order: ['label', 'amount']}));

serve({
  create: () => each(async (model, table) => {
    const row = await model.create(values(table, 100, "create it's \\ é"));
    await row.update({amount: 101});
    const built = model.build(values(table, 101, 'create 2'));
    await built.save();
    return `${all([row, built])}, ${await find(model, 'create')}`;
  }),
  bulk: () => each(async (model, table) => all(await model.bulkCreate(
    range(200, 220).map((number) => values(table, number, `bulk ${number}`))))),
  transaction: () => each(async (model, table) => {
    await sequelize.transaction(async (transaction) => {
      await model.create(values(table, 300, 'transaction 1'), {transaction});
      await sequelize.transaction({transaction}, (inner) => model.create(
        values(table, 301, 'transaction 2'), {transaction: inner}));
    });
    await sequelize.transaction(async (transaction) => {
      await model.create(values(table, 302, 'transaction 3'), {transaction});
      throw new Error('undone');
    }).catch((failure) => { if (failure.message !== 'undone') throw failure; });
    return find(model, 'transaction');
  }),
  returning: () => each(async (model, table) => all(await model.bulkCreate(
    [values(table, 400, 'returning 1'), values(table, 401, 'returning 2')], {returning: true}))),
  upsert: () => each(async (model, table) => {
    const rows = [];
    for (const amount of [3, 4])
      rows.push((await model.upsert({...keyed(table, 500, 'upsert 2'), amount}))[0]);
    await model.bulkCreate([{...keyed(table, 500, 'upsert 2'), amount: 5}],
                           {updateOnDuplicate: ['amount']});
    return `${all(rows)}, ${await find(model, 'upsert')}`;
  }),
  'find or create': async () => {
    for (const how of ['findOrCreate', 'findCreateFind'])
      await each(async (model, table) => {
        const found = [];
        for (const amount of [550, 551])
          found.push(await model[how]({where: {label: `find or create ${how}`},
                                       defaults: values(table, amount, `find or create ${how}`)}));
        return found.map(([row, made]) => `${shown(row)} ${made}`);
      }, how);
  },
  duplicate: () => each(async (model, table) => {
    for (const _ of [1, 2]) await model.create(keyed(table, 600, 'duplicate'));
  }),
});
