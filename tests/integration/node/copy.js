// Copies files into tables by pg-copy-streams. Arguments: the URL, then a COPY statement and a file by turns. Prints of each "COPY"
// and how many rows the server says that it stored, or the fields of its error, a line each; behind each a zero byte.
'use strict';

const fs = require('fs');
const { pipeline } = require('stream/promises');
const { Client } = require('pg');
const { from } = require('pg-copy-streams');

async function copied(client, statement, path) {
  const stream = client.query(from(statement));
  try {
    await pipeline(fs.createReadStream(path, { highWaterMark: 1000 }), stream);
    return `COPY ${stream.rowCount}`;
  } catch (error) {
    return [error.code, error.message, error.detail, error.hint, error.where].filter(Boolean).join('\n');
  }
}

async function main([url, ...loads]) {
  const client = new Client({ connectionString: url });
  await client.connect();
  for (let i = 0; i < loads.length; i += 2) {
    process.stdout.write(`${await copied(client, loads[i], loads[i + 1])}\0`);
  }
  await client.end();
}

main(process.argv.slice(2));
