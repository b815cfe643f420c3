// Writes into `events` as an application with node-postgres does. Prints what it was answered, as
// one line of JSON: the caller knows what that must be.
'use strict';

const { Client, Pool } = require('pg');

const TS = new Date('2026-01-02T03:04:05.678Z');
const INSERT = 'INSERT INTO events (userid, ts, event) VALUES ($1, $2, $3)';

async function oneClient(answers) {
  const client = new Client({ connectionString: process.argv[2] });
  await client.connect();
  const text = await client.query(
    "insert into events (userid, ts, event) values (1, '2026-01-02', 'it''s')");
  answers.text = [text.command, text.rowCount];
  answers.values = (await client.query(INSERT, [2, TS, null])).rowCount;
  answers.big = (await client.query(INSERT, ['9007199254740993', TS, 'ünï'])).rowCount;
  answers.named = [];
  for (let userid = 10; userid < 15; userid++) {
    const result = await client.query({ name: 'put', text: INSERT, values: [userid, TS, 'named'] });
    answers.named.push(result.rowCount);
  }
  const many = await client.query(
    'insert into "events" ("event", "ts", "userid") values ($1, $2, $3), ($4, $5, $6)'
    + ' returning "userid"', ['a', TS, 20, 'b', TS, 21]);
  answers.returning = many.rows.map((row) => row.userid).sort();
  answers.duplicate = await client.query(INSERT, [2, TS, 'again']).catch((error) => error.code);
  answers.wrong = await client.query(INSERT, ['two', TS, 'again']).catch((error) => error.code);
  answers.after = (await client.query(INSERT, [22, TS, 'after'])).rowCount;

  await client.query('BEGIN;');
  await client.query(INSERT, [30, TS, 'kept']);
  await client.query('COMMIT;');
  await client.query('START TRANSACTION');
  await client.query(INSERT, [31, TS, 'thrown away']);
  await client.query('ROLLBACK');
  answers.count = (await client.query('select count(*)::int as n from events')).rows[0].n;
  await client.end();
}

async function manyClients(answers) {
  const pool = new Pool({ connectionString: process.argv[2], max: 8 });
  const writes = [];
  for (let userid = 1000; userid < 1200; userid++) {
    writes.push(pool.query(INSERT, [userid, TS, 'pool']));
  }
  answers.pool = (await Promise.all(writes)).reduce((sum, result) => sum + result.rowCount, 0);
  await pool.end();
}

async function main() {
  const answers = {};
  await oneClient(answers);
  await manyClients(answers);
  console.log(JSON.stringify(answers));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
