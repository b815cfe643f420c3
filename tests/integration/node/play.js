// Plays steps with node-postgres, a line of standard input each: the text and its values' types and
// texts, apart by tabs. Prints what was seen, a line a step, its parts apart by tabs. Arguments:
// "named" or "unnamed", host, port, user, database.
'use strict';

const readline = require('readline');
const { Client } = require('pg');

const [mode, host, port, user, database] = process.argv.slice(2);
const FIELDS = ['severity', 'code', 'message', 'detail', 'hint', 'position', 'table', 'column',
  'constraint'];
const MADE = {
  bool: (text) => text === 'true',
  int2: Number, int4: Number, float4: Number, float8: Number,
  bytea: (text) => Buffer.from(text, 'hex'),
  timestamptz: (text) => new Date(text),
  interval: (text) => `${text} seconds`,
  'int4[]': JSON.parse, 'int8[]': JSON.parse, 'text[]': JSON.parse, 'uuid[]': JSON.parse,
};

function valueOf(kind, text) {
  if (text === '\\N') return null;
  return MADE[kind] ? MADE[kind](text) : text;
}

function shown(result) {
  const columns = result.fields.map((field) => [field.name, field.dataTypeID, field.dataTypeSize,
    field.dataTypeModifier, field.format]);
  return [`${result.command} ${result.rowCount}`, `columns ${JSON.stringify(columns)}`]
    .concat(result.rows.map((row) => `row ${JSON.stringify(row)}`));
}

function failure(error) {
  return ['failed ' + FIELDS.filter((name) => error[name] !== undefined)
    .map((name) => `${name === 'code' ? 'sqlstate' : name}='${error[name]}'`).join(' ')];
}

async function step(client, line, number) {
  const [text, ...fields] = line.split('\t');
  const values = [];
  for (let i = 0; i < fields.length; i += 2) values.push(valueOf(fields[i], fields[i + 1]));
  const query = { text, values };
  if (mode === 'named') query.name = `step ${number}`;
  const results = await client.query(query);
  return [].concat(...(Array.isArray(results) ? results : [results]).map(shown));
}

async function main() {
  const client = new Client({ host, port: Number(port), user, database, ssl: false });
  const notices = [];
  client.on('notice', (notice) => notices.push(`notice ${notice.severity} ${notice.code} ${notice.message}`));
  await client.connect();
  let number = 0;
  for await (const line of readline.createInterface({ input: process.stdin })) {
    number += 1;
    const seen = await step(client, line, number).catch(failure);
    console.log(notices.splice(0).concat(seen).join('\t').replace(/\n/g, '\\n'));
  }
  await client.end();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
