# ActiveRecord's migrations, one change after the other: what each says, and what a row of the table is after it.
require "active_record"

ActiveRecord::Base.establish_connection(
  adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"], username: ENV["PGUSER"], database: ENV["PGDATABASE"]
)
LINK = ActiveRecord::Base.connection

CHANGES = {
  "create" => -> { LINK.create_table(:items) { |t| t.string :label, limit: 20; t.integer :amount, default: 0; t.timestamps null: true } },
  "create without a serial" => -> { LINK.create_table(:documents, id: false) { |t| t.bigint :userid, null: false, primary_key: true } },
  "add" => -> { LINK.add_column :items, :note, :text, default: "n", null: false },
  "change a type" => -> { LINK.change_column :items, :label, :text, null: true },
  "change a default" => -> { LINK.change_column_default :items, :amount, 7 },
  "change null" => -> { LINK.change_column_null :items, :amount, false, 1 },
  "change to numeric" => -> { LINK.change_column :items, :amount, :decimal, precision: 10, scale: 2, default: 3 },
  "change the key" => -> { LINK.change_column :items, :id, :bigint },
  "comment on a column" => -> { LINK.change_column_comment :items, :label, "what" },
  "comment on the table" => -> { LINK.change_table_comment :items, "things" },
  "rename" => -> { LINK.rename_column :items, :note, :remark },
  "index" => -> { LINK.add_index :items, %i[label amount], name: "la" },
  "unique index" => -> { LINK.add_index :items, %i[label id], unique: true },
  "rename an index" => -> { LINK.rename_index :items, "la", "al" },
  "index of an expression" => -> { LINK.add_index :items, "lower(label)", name: "low" },
  "remove an index" => -> { LINK.remove_index :items, name: "al" },
  "reference" => -> { LINK.add_reference :documents, :item, foreign_key: true },
  "remove a reference" => -> { LINK.remove_reference :documents, :item, foreign_key: true },
  "check" => -> { LINK.add_check_constraint :items, "amount >= 0", name: "good" },
  "remove a check" => -> { LINK.remove_check_constraint :items, name: "good" },
  "several" => lambda {
    LINK.change_table(:items, bulk: true) { |t| t.integer :a; t.string :b, default: "x"; t.remove :remark; t.change :label, :string }
  },
  "remove several" => -> { LINK.remove_columns :items, :a, :b },
  "remove timestamps" => -> { LINK.remove_timestamps :items },
  "jsonb" => -> { LINK.add_column :items, :data, :jsonb, default: {}; LINK.add_index :items, :data, using: :gin },
  "array" => -> { LINK.add_column :items, :tags, :string, array: true, default: [] },
  "remove the hash" => -> { LINK.remove_column :items, :id_hash },
  "rename the hash" => -> { LINK.rename_column :items, :id_hash, :other },
  "make it again" => -> { LINK.create_table(:items, force: true) { |t| t.string :label } }
}.freeze

def change(name, work)
  ActiveRecord::Base.transaction { work.call }
  puts name
rescue ActiveRecord::StatementInvalid
  puts "refused: #{name}"
end

def insert
  row = LINK.exec_query("insert into items (label) values ('row') returning *")
  puts "    #{row.columns} #{row.rows}"
end

CHANGES.each { |name, work| change(name, work); insert }
ActiveRecord::SchemaDumper.dump(LINK, $stdout)
