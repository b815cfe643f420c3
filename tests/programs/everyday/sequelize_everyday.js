// Sequelize's first days: sync, sync({alter: true}), migrations forth and back with their book; rows made, read by their keys, found,
// counted, cut into pages, joined, locked, changed, deleted softly and for good, in transactions with savepoints.
'use strict';
const {DataTypes, Op, Sequelize, col, fn, literal, where} = require('sequelize');

const env = process.env;
const sequelize = new Sequelize(env.PGDATABASE, env.PGUSER, '', {
  host: env.PGHOST, port: +env.PGPORT, dialect: 'postgres', logging: false, pool: {max: 3}});
const print = (...all) => console.log(...all.map((it) => (typeof it === 'string' ? it : JSON.stringify(it))));
const labels = (rows) => rows.map((row) => row.label);
const attempt = async (name, work) => {
  try {
    print(name, (await work()) ?? '');
  } catch (failure) {
    print(name, failure.name, failure.message, failure.parent ? failure.parent.detail ?? '' : '');
  }
};

function define(more) {
  const Item = sequelize.define('item', {
    label: {type: DataTypes.STRING(40), allowNull: false}, amount: {type: DataTypes.DECIMAL(10, 2), defaultValue: 0}, ...more,
  }, {tableName: 'items', paranoid: true, version: true, indexes: [{fields: ['label']}]});
  const Document = sequelize.define('document', {
    id: {type: DataTypes.UUID, primaryKey: true, defaultValue: literal('gen_random_uuid()')},
    label: {type: DataTypes.TEXT, unique: true}, body: DataTypes.JSONB, tags: DataTypes.ARRAY(DataTypes.TEXT),
    kind: {type: DataTypes.ENUM('a', 'b'), defaultValue: 'a'}, // of a type that sync makes
  }, {tableName: 'documents', timestamps: false});
  const Event = sequelize.define('event', {
    userid: {type: DataTypes.BIGINT, primaryKey: true}, // JavaScript's time has milliseconds.
    ts: {type: DataTypes.DATE, primaryKey: true, defaultValue: literal("date_trunc('milliseconds', now())")},
    label: DataTypes.TEXT}, {tableName: 'events', timestamps: false});
  const Tag = sequelize.define('tag', {name: {type: DataTypes.TEXT, unique: true}}, {tableName: 'tags', timestamps: false});
  Item.hasMany(Document, {onDelete: 'cascade', foreignKey: 'item_id'});
  Document.belongsTo(Item, {foreignKey: 'item_id'});
  Item.belongsToMany(Tag, {through: 'items_tags', timestamps: false});
  Tag.belongsToMany(Item, {through: 'items_tags', timestamps: false});
  return {Item, Document, Event, Tag};
}

async function migrate() {
  define({});
  await sequelize.sync();
  await sequelize.sync();
  define({note: {type: DataTypes.STRING, defaultValue: 'n'}});
  await sequelize.sync({alter: true});
  await sequelize.sync({alter: true});
  const asks = sequelize.getQueryInterface();
  print((await asks.showAllTables()).sort(), await asks.describeTable('items'), await asks.describeTable('events'));
  await asks.createTable('SequelizeMeta', {name: {type: DataTypes.STRING, primaryKey: true, allowNull: false}});
  await sequelize.transaction(async (transaction) => {
    await asks.createTable('papers', {
      id: {type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true},
      item_id: {type: DataTypes.INTEGER, references: {model: 'items', key: 'id'}}}, {transaction});
    await asks.addIndex('papers', ['item_id'], {transaction});
    await asks.bulkInsert('SequelizeMeta', [{name: '1-papers.js'}], {transaction});
  });
  await asks.bulkInsert('papers', [{item_id: null}, {item_id: null}]);
  await asks.renameColumn('papers', 'item_id', 'item');
  print(await asks.showIndex('papers').then((all) => all.map((it) => [it.name, it.fields.map((field) => field.attribute)])));
  await asks.dropTable('papers');
  await asks.bulkDelete('SequelizeMeta', {name: '1-papers.js'});
  await sequelize.sync({force: true});
}

async function useItems({Item}) {
  const items = [];
  for (let n = 0; n < 12; n++) items.push(await Item.create({label: `item ${n}`, amount: n * 10}));
  const one = items[3];
  print((await Item.findByPk(one.id)).label, await Item.count({where: {id: items.slice(0, 3).map((it) => it.id)}}));
  await one.update({label: 'changed', amount: 31.5});
  await one.increment('amount', {by: 2});
  await one.reload();
  print(one.label, one.amount, one.version, (await Item.findOne({where: {label: 'item 5'}})).id === items[5].id);
  print(await Item.update({amount: literal('amount + 1')}, {where: {amount: {[Op.gt]: 50}}}));
  print((await Item.update({amount: 7}, {where: {id: one.id}, returning: true}))[1].map((it) => [it.label, it.amount]));
  for (let page = 0; page < 3; page++) {
    const found = await Item.findAndCountAll({order: [['amount', 'DESC'], 'label'], limit: 4, offset: 4 * page});
    print(found.count, labels(found.rows));
  }
  print(await Item.sum('amount'), await Item.max('label'), await Item.findAll({
    attributes: [[fn('count', col('id')), 'n'], [literal('amount > 40'), 'much']], group: ['much'], order: ['n'], raw: true}));
  print(labels(await Item.findAll({where: {[Op.or]: [{amount: {[Op.between]: [10, 40]}}, {label: {[Op.iLike]: 'CH%'}}],
                                           [Op.not]: {label: 'x'}, [Op.and]: where(fn('length', col('label')), Op.lt, 10)}, order: ['label']})));
  await one.destroy();
  print(await Item.count(), (await Item.findByPk(one.id, {paranoid: false})).deletedAt !== null, await Item.findByPk(one.id));
  await one.restore();
  print(await Item.destroy({where: {id: items[8].id}, force: true}), await Item.destroy({where: {label: 'item 9'}}), await Item.count());
  await sequelize.transaction(async (transaction) => {
    print((await Item.findByPk(one.id, {lock: transaction.LOCK.UPDATE, transaction})).label);
    print((await Item.findAll({lock: true, skipLocked: true, transaction})).length);
  });
  print((await sequelize.query('select * from items where id = :id', {replacements: {id: one.id}}))[0].map(Object.keys));
  print((await sequelize.query('select label from items where id = $id', {bind: {id: one.id}, type: Sequelize.QueryTypes.SELECT})));
  print(await Item.findAll({attributes: {exclude: ['createdAt', 'updatedAt', 'deletedAt']}, where: {id: one.id}, raw: true}));
  await Item.upsert({id: one.id, label: 'upserted'});
  print((await one.reload()).label, await Item.bulkCreate([{label: 'b 1'}, {label: 'b 2'}]).then(labels));
  await attempt('stale', async () => {
    await Item.update({amount: 1}, {where: {id: one.id}});
    await sequelize.query('update items set version = 77 where id = ?', {replacements: [one.id]});
    await one.update({amount: 2});
  });
}

async function useRelations({Item, Document, Tag}) {
  const [one, other] = await Item.findAll({order: ['id'], limit: 2});
  for (let n = 0; n < 4; n++) await one.createDocument({label: `document ${n}`, body: {n}, tags: ['a', `b${n}`]});
  print(labels(await one.getDocuments({order: ['label']})), await one.countDocuments());
  print((await Document.findAll({include: Item, order: ['label']})).map((it) => [it.label, it.item.label]));
  print((await Item.findAll({include: {model: Document, required: true}, order: ['id', [Document, 'label']]})).map((it) => labels(it.documents)));
  print((await Item.findAll({include: {model: Document, separate: true, order: ['label']}, order: ['id'], limit: 2})).map((it) => labels(it.documents)));
  print(labels(await Document.findAll({where: {body: {n: {[Op.gte]: 2}}, tags: {[Op.contains]: ['a']}}, order: ['label']})));
  const tags = await Tag.bulkCreate([{name: 'red'}, {name: 'blue'}]);
  await one.setTags(tags);
  await other.addTag(tags[0]);
  await one.removeTag(tags[0]);
  print((await Tag.findAll({include: Item, order: ['name']})).map((it) => [it.name, labels(it.items)]), await one.hasTag(tags[1]));
  print(await Document.update({item_id: other.id, kind: 'b'}, {where: {label: ['document 0', 'document 1']}}));
  await attempt('twice', () => Document.bulkCreate([{label: 'd'}, {label: 'd'}]));
  await attempt('nothing', () => Document.create({label: 'e', item_id: 1e9}));
  await attempt('no kind', () => Document.create({label: 'e', kind: 'c'}));
  await attempt('too long', () => one.update({label: 'l'.repeat(41)}));
  await one.destroy({force: true});
  print(labels(await Document.findAll({order: ['label']})));
}

async function useEvents({Event}) {
  const events = [];
  for (let n = 0; n < 6; n++) events.push(await Event.create({userid: n, label: `event ${n}`}));
  const one = events[2];
  print(one.label, one.ts !== undefined, (await one.reload()).label);
  await one.update({label: 'changed'});
  print((await Event.findOne({where: {userid: 2, ts: one.ts}})).label, await Event.count({where: {userid: [1, 2, 9]}}));
  await Event.update({userid: 100}, {where: {userid: 2}});
  print(await Event.destroy({where: {userid: 100, ts: one.ts}}), await Event.count());
  await events[3].destroy();
  print(labels(await Event.findAll({order: ['userid']})));
}

async function useTransactions({Item}) {
  await sequelize.transaction(async (transaction) => {
    await Item.create({label: 'kept'}, {transaction});
    for (const label of ['lost', 'kept too'])
      await attempt(label, () => sequelize.transaction({transaction}, async (inner) => {
        await Item.create({label}, {transaction: inner});
        if (label === 'lost') throw new Error('undone');
      }));
  });
  const isolationLevel = Sequelize.Transaction.ISOLATION_LEVELS.SERIALIZABLE;
  await sequelize.transaction({isolationLevel}, async (transaction) => {
    print(labels(await Item.findAll({where: {label: {[Op.regexp]: 'kept|lost'}}, order: ['label'], transaction})));
    await Item.bulkCreate([{label: 'many'}, {label: 'many'}], {transaction});
  });
  print(await Item.count({where: {label: 'many'}}), await Item.findCreateFind({where: {label: 'found'}}).then(([row, made]) => [row.label, made]));
  await Item.truncate({cascade: true, restartIdentity: true});
  print((await Item.create({label: 'first'})).id);
}

async function all() {
  await migrate();
  const models = define({});
  await sequelize.sync({force: true});
  for (const step of [useItems, useRelations, useEvents, useTransactions]) {
    print('---', step.name);
    await step(models);
  }
}

all().then(() => process.exit(0), (failure) => {
  console.error(failure);
  process.exit(1);
});
