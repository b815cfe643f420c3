// Compares the pid that node-postgres was told with what the server says of itself. Prints one line
// of JSON: whether they are the same, the pid of a notification, and how a terminated client ends.
'use strict';

const { Client } = require('pg');

async function connected() {
  const client = new Client({ connectionString: process.argv[2] });
  client.ended = new Promise((resolve) => client.on('error', (error) => resolve(error.code)));
  await client.connect();
  return client;
}

async function main() {
  const client = await connected();
  const other = await connected();
  const asked = (await client.query('select pg_backend_pid() as pid')).rows[0].pid;
  const heard = new Promise((resolve) => client.on('notification', resolve));
  await client.query('listen n');
  await client.query('notify n');
  const notified = (await heard).processId;
  await other.query('select pg_terminate_backend($1)', [client.processID]);
  const ended = await client.ended;
  const value = (await other.query('select 1 as value')).rows[0].value;
  await other.end();
  return { same: asked === client.processID, own: notified === client.processID, ended, value };
}

main().then(
  (answers) => process.stdout.write(`${JSON.stringify(answers)}\n`),
  (error) => { process.stderr.write(`${error.stack}\n`); process.exitCode = 1; });
