// Connects and ends at once, as pools that are closed while they fill do: node-postgres then says
// goodbye before it has said anything else. Nothing is thrown.
'use strict';

const fs = require('fs');
const { Client } = require('pg');

const client = new Client(JSON.parse(fs.readFileSync(0, 'utf8')));
client.connect().catch(() => {});
client.end(() => console.log('ended'));
