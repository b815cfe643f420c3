// Prisma's schema engine: tables made of a schema (db push), changed, changed by migrations (migrate deploy, status), compared (migrate
// diff), and a schema made of tables (db pull).
import fs from 'node:fs';
import {createRequire} from 'node:module';

const require = createRequire(process.env.NODE_PATH + '/');
const pg = require('pg');
const {bindMigrationAwareSqlAdapterFactory} = require('@prisma/driver-adapter-utils');
const {PrismaPg} = require('@prisma/adapter-pg');

// The driver's adapter knows no "char", which the catalog is full of.
const add = pg.Result.prototype.addFields;
pg.Result.prototype.addFields = function addFields(fields) {
  for (const field of fields) if (field.dataTypeID === 18) field.dataTypeID = 1042;
  return add.call(this, fields);
};

const engines = require.resolve('@prisma/schema-engine-wasm/schema_engine_bg');
const wasm = await import(engines);
const module = new WebAssembly.Module(fs.readFileSync(engines.replace(/js$/, 'wasm')));
const {exports} = new WebAssembly.Instance(module, {'./schema_engine_bg.js': wasm});
wasm.__wbg_set_wasm(exports);
exports.__wbindgen_start();

const HEAD = 'datasource db {\n  provider = "postgresql"\n}\n';
const SCHEMAS = [`
model items {
  id     BigInt  @id @default(autoincrement())
  label  String? @db.VarChar(20)
  amount Int     @default(0)
  documents documents[]
  @@index([label, amount])
}
model documents {
  id      String @id @default(dbgenerated("gen_random_uuid()")) @db.Uuid
  label   String @unique
  body    Json   @default("{}")
  item_id BigInt?
  item    items? @relation(fields: [item_id], references: [id], onDelete: Cascade)
}
model events {
  userid BigInt
  ts     DateTime @default(now()) @db.Timestamptz(6)
  kind   kinds    @default(A)
  @@id([userid, ts])
}
enum kinds {
  A
  B
}`, `
model items {
  id     BigInt   @id @default(autoincrement())
  label  String
  note   String?
  tags   String[]
  documents documents[]
  @@unique([label, id], map: "both")
}
model documents {
  id      String @id @default(dbgenerated("gen_random_uuid()")) @db.Uuid
  label   String
  item_id BigInt?
  item    items? @relation(fields: [item_id], references: [id], onDelete: SetNull)
}
model events {
  userid BigInt
  ts     DateTime @default(now()) @db.Timestamptz(6)
  kind   kinds    @default(B)
  note   String?  @db.Char(3)
  @@id([userid, ts])
  @@index([kind])
}
model papers {
  id Int @id @default(autoincrement())
}
enum kinds {
  A
  B
  C
}`];
const MIGRATIONS = {
  '1_first': 'create table papers (id serial primary key, label text); insert into papers (label) values (\'a\'), (\'b\');',
  '2_second': '-- AlterTable\nALTER TABLE "papers" ADD COLUMN "note" TEXT NOT NULL DEFAULT \'n\';\n\n-- CreateIndex\n'
    + 'CREATE UNIQUE INDEX "papers_label_id_key" ON "papers"("label", "id");',
};
const filters = {externalTables: [], externalEnums: []};
const connection = {host: process.env.PGHOST, port: +process.env.PGPORT, user: process.env.PGUSER, database: process.env.PGDATABASE};
const files = (content) => ({files: [{path: 'schema.prisma', content: HEAD + content}]});
const print = (...all) => console.log(...all.map((it) => (typeof it === 'string' ? it : JSON.stringify(it))));
const begin = (content) => wasm.SchemaEngine.new({datamodels: [['schema.prisma', HEAD + content]]}, () => {},
  bindMigrationAwareSqlAdapterFactory(new PrismaPg(connection)));
const list = (...names) => ({
  baseDir: '/migrations', lockfile: {path: 'migration_lock.toml', content: 'provider = "postgresql"'}, shadowDbInitScript: '',
  migrationDirectories: names.map((path) => ({path, migrationFile: {path: 'migration.sql', content: {tag: 'ok', value: MIGRATIONS[path]}}})),
});

async function rows(text) {
  const client = new pg.Client(connection);
  await client.connect();
  print((await client.query(text)).rows);
  await client.end();
}

async function pull(engine) {
  const found = await engine.introspect({schema: files(''), baseDirectoryPath: '/', force: true, compositeTypeDepth: -1, namespaces: null});
  print(found.schema.files[0].content, found.warnings ?? '');
}

for (const schema of SCHEMAS) {
  const engine = await begin(schema);
  print('push', await engine.schemaPush({force: true, schema: files(schema), filters}));
  print('again', await engine.schemaPush({force: false, schema: files(schema), filters}));
  await rows("insert into items (label) values ('row') returning *");
  await rows("insert into events (userid) values (1) returning userid, kind");
  await rows("insert into documents (label, item_id) select 'of ' || id, id from items returning label, item_id");
  await pull(engine);
}
const engine = await begin(SCHEMAS[1]);
print('reset', await engine.reset({filter: filters}));
for (const names of [['1_first'], ['1_first', '2_second'], ['1_first', '2_second']])
  print('deploy', await engine.applyMigrations({migrationsList: list(...names), filters}));
print('status', await engine.diagnoseMigrationHistory({migrationsList: list('1_first'), optInToShadowDatabase: false, filters}));
await rows('select * from papers order by id');
await rows('select migration_name, applied_steps_count, logs from _prisma_migrations order by 1');
await pull(engine);
process.exit(0);
