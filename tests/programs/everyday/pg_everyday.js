// node-postgres: transactions that are begun and committed by its own words, with parameters and prepared statements.
'use strict';
const {Client} = require('pg');

const client = new Client();
const say = (...words) => console.log(...words);
const rows = async (text) => (await client.query(text)).rows.map((row) => Object.values(row).join('|')).join(' ');

const transaction = async (word, work) => {
  await client.query('BEGIN');
  try {
    await work();
    await client.query('COMMIT');
    say(word, 'committed');
  } catch (failure) {
    await client.query('ROLLBACK');
    say(word, failure.code, failure.constraint, failure.detail);
  }
};

const add = (id, label, name) => client.query(
  {name, text: 'INSERT INTO parts (id, label) VALUES ($1, $2)', values: [id, label]});

const main = async () => {
  await client.connect();
  await client.query('CREATE TABLE parts (id bigint PRIMARY KEY, label text, amount int DEFAULT 1 CHECK (amount > 0))');
  for (const name of [undefined, 'add'])
    for (const number of [1, 2, 3])
      await transaction('rows', async () => {
        for (const more of [0, 1]) {
          const {command, rowCount} = await add(100 * number + more + (name ? 10 : 0), `it's ${number}`, name);
          say(command, rowCount);
        }
      });
  await transaction('duplicate', () => add(100, 'again'));
  await transaction('check', () => client.query('INSERT INTO parts (id, amount) VALUES (1, 0)'));
  await transaction('upsert', () => client.query(
    'INSERT INTO parts (id, label) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET label = excluded.label', [100, 'upsert']));
  await transaction('savepoint', async () => {
    await add(1, 'kept');
    await client.query('SAVEPOINT s');
    await add(2, 'taken back');
    await client.query('ROLLBACK TO s');
    await add(3, 'kept');
  });
  await transaction('read', async () => {
    await add(4, 'seen');
    say(await rows('SELECT id, label FROM parts WHERE id < 10 ORDER BY id'));
  });
  await transaction('returning', async () => {
    const {rows: [{id}]} = await client.query('INSERT INTO parts (id) VALUES (5) RETURNING id');
    say(typeof id, id);
  });
  await client.query('BEGIN');
  await add(6, 'thrown away');
  await client.query('ROLLBACK');
  say(await rows('SELECT id, label, amount FROM parts ORDER BY id'));
  await client.end();
};

main();
