// node-postgres: queries with parameters, prepared ones, through a pool of clients.
'use strict';
const {Pool} = require('pg');
const {all, attempt, connection, key, keyed, range, serve, values} = require('./steps');

const pool = new Pool({...connection, max: 2});
const TABLES = Object.keys(key);
const each = async (work) => {
  for (const table of TABLES) await attempt(table, () => work(table));
};

// An INSERT of rows, as text and parameters.
const insert = (table, rows, tail = '') => {
  const columns = Object.keys(rows[0]);
  let number = 0;
  const cells = rows.map(() => `(${columns.map(() => `$${++number}`)})`);
  return {text: `INSERT INTO ${table} (${columns}) VALUES ${cells} ${tail}`,
          values: rows.flatMap((row) => columns.map((column) => row[column]))};
};

const find = async (table, label) => all((await pool.query(
  `SELECT * FROM ${table} WHERE label LIKE $1 ORDER BY label`, [label + '%'])).rows.map(
  ({id, userid, ts, label, amount}) => ({id, userid, ts, label, amount})));

serve({
  create: () => each(async (table) => {
    const one = await pool.query(insert(table, [values(table, 100, "create it's \\ é")]));
    for (const number of range(101, 105))
      await pool.query({name: `one ${table}`, ...insert(table, [values(table, number, `create ${number}`)])});
    return `${one.command} ${one.rowCount} ${await find(table, 'create')}`;
  }),
  bulk: () => each(async (table) => {
    const rows = range(200, 220).map((number) => values(table, number, `bulk ${number}`));
    const sent = await pool.query(insert(table, rows));
    await Promise.all(range(220, 240).map((number) => pool.query(
      insert(table, [{...values(table, number, 'bulk of many'), amount: 0}]))));
    return sent.rowCount;
  }),
  transaction: () => each(async (table) => {
    const client = await pool.connect();
    try {
      for (const end of ['COMMIT', 'ROLLBACK']) {
        await client.query('BEGIN');
        await client.query(insert(table, [values(table, 300, `transaction ${end}`)]));
        await client.query(end);
      }
    } catch (failure) {
      await client.query('ROLLBACK');
      throw failure;
    } finally {
      client.release();
    }
    return find(table, 'transaction');
  }),
  returning: () => each(async (table) => {
    const rows = range(400, 403).map((number) => values(table, number, `returning ${number}`));
    const {rows: one, fields} = await pool.query(insert(table, rows.slice(0, 1), 'RETURNING *'));
    const more = await pool.query(insert(table, rows.slice(1), `RETURNING ${Object.keys(one[0])}`));
    return `${fields.map((field) => field.name)} ${all([...one, ...more.rows])}`;
  }),
  upsert: () => each(async (table) => {
    const row = keyed(table, 500, 'upsert 1');
    for (const amount of [1, 2])
      await pool.query(insert(table, [{...row, amount}],
        `ON CONFLICT (${key[table]}) DO UPDATE SET amount = EXCLUDED.amount`));
    const ignored = await pool.query(insert(table, [row], 'ON CONFLICT DO NOTHING'));
    return `${ignored.rowCount} ${await find(table, 'upsert')}`;
  }),
  duplicate: () => each(async (table) => {
    const row = keyed(table, 600, 'duplicate');
    for (const _ of [1, 2]) await pool.query(insert(table, [row]));
  }),
});
