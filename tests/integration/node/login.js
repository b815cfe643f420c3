// Logs in with node-postgres as often as it is told to by a list in JSON on standard input. Prints
// what came of each, as a list: the value and the rows written, or SQLSTATE and message.
'use strict';

const fs = require('fs');
const { Client } = require('pg');

async function attempt(login) {
  const client = new Client({
    host: login.host,
    port: login.port,
    user: login.user,
    password: login.password,
    database: login.database,
    ssl: login.tls ? { ca: fs.readFileSync(login.ca), servername: 'localhost' } : false,
    enableChannelBinding: login.binding,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const value = (await client.query('select 41 + 1 as value')).rows[0].value;
    const rows = login.insert ? (await client.query(login.insert)).rowCount : 0;
    return { value, rows };
  } catch (error) {
    return { sqlstate: error.code, message: error.message };
  } finally {
    await client.end().catch(() => {});
  }
}

async function main() {
  const outcomes = [];
  for (const login of JSON.parse(fs.readFileSync(0, 'utf8'))) outcomes.push(await attempt(login));
  console.log(JSON.stringify(outcomes));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
