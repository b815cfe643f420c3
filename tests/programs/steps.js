// steps: what a program in JavaScript says to whoever runs it; see steps.py.
'use strict';
const readline = require('readline');

// Does it, and prints what it returns.
exports.attempt = async (table, work) => {
  try {
    console.log(`${table}: ${await work()}`);
  } catch (failure) {
    const cause = failure.original || failure.parent || failure.driverError || failure;
    console.log(`! ${table}: ${cause.code} ${cause.message}`.replace(/\n/g, ' '));
  }
};

// `steps`: functions by their names.
exports.serve = async (steps) => {
  for await (const line of readline.createInterface({input: process.stdin})) {
    if (steps[line]) await steps[line]();
    else console.log('-');
    console.log('.');
  }
  process.exit(0);
};

exports.connection = {host: process.env.PGHOST, port: +process.env.PGPORT,
                      user: process.env.PGUSER, database: process.env.PGDATABASE};
exports.ts = new Date('2026-01-02T03:04:05.678Z');
exports.range = (from, to) => Array.from({length: to - from}, (_, index) => from + index);

// A new row, without the key that the database makes.
exports.values = (table, number, label) => ({
  label, amount: number, ...(table === 'events' ? {userid: number} : {})});

// A row of `table` with a key of its own.
exports.keyed = (table, number, label) => ({
  ...exports.values(table, number, label),
  ...(table === 'items' ? {id: 1000000 + number} : table === 'documents'
    ? {id: `00000000-0000-4000-8000-000000000${number}`} : {ts: exports.ts})});

exports.key = {items: ['id'], documents: ['id'], events: ['userid', 'ts']};

// As text, its key first.
exports.shown = (row) => (row.ts ? `userid=${row.userid} ${row.ts.toISOString()}` : `id=${row.id}`)
  + ` ${JSON.stringify(row.label)} ${row.amount}`;
exports.all = (rows) => rows.map(exports.shown).join(', ');
