# Sequel's alter_table, one change after the other: what each says, what it finds, and what a row is after it.
require "sequel"

DB = Sequel.connect("postgres://#{ENV["PGUSER"]}@#{ENV["PGHOST"]}:#{ENV["PGPORT"]}/#{ENV["PGDATABASE"]}")

CHANGES = {
  "create" => -> { DB.create_table(:items) { primary_key :id; String :label, size: 20; Integer :amount, default: 0 } },
  "create without a serial" => -> { DB.create_table(:documents) { Bignum :userid; String :label; primary_key [:userid] } },
  "add" => -> { DB.alter_table(:items) { add_column :note, String, default: "n", null: false } },
  "types" => -> { DB.alter_table(:items) { set_column_type :label, :text; set_column_type :amount, "numeric(10,2)" } },
  "default" => -> { DB.alter_table(:items) { set_column_default :amount, 7; set_column_not_null :amount; set_column_allow_null :note } },
  "rename" => -> { DB.alter_table(:items) { rename_column :note, :remark } },
  "index" => -> { DB.alter_table(:items) { add_index %i[label amount], name: :la; add_index %i[label id], unique: true, name: :u } },
  "drop an index" => -> { DB.alter_table(:items) { drop_index %i[label amount], name: :la; drop_index :label, name: :u } },
  "unique" => -> { DB.alter_table(:items) { add_unique_constraint %i[label id], name: :uq } },
  "drop unique" => -> { DB.alter_table(:items) { drop_constraint :uq } },
  "check" => -> { DB.alter_table(:items) { add_constraint(:good) { amount >= 0 } } },
  "reference" => -> { DB.alter_table(:documents) { add_foreign_key :item_id, :items } },
  "drop a reference" => -> { DB.alter_table(:documents) { drop_foreign_key :item_id } },
  "drop the key" => -> { DB.alter_table(:items) { drop_constraint :items_pkey } },
  "add the key" => -> { DB.alter_table(:items) { add_primary_key [:id] } },
  "several" => -> { DB.alter_table(:items) { drop_column :remark; add_column :more, :jsonb; set_column_type :id, :Bignum } },
  "drop the hash" => -> { DB.alter_table(:items) { drop_column :id_hash } },
  "rename the hash" => -> { DB.alter_table(:items) { rename_column :id_hash, :other } }
}.freeze

def change(name, work)
  DB.transaction { work.call }
  puts name
rescue Sequel::DatabaseError
  puts "refused: #{name}"
end

def look
  columns = DB.schema(:items, reload: true).map { |column, it| [column, it[:db_type], it[:primary_key], it[:default], it[:allow_null]] }
  puts "    #{columns} #{DB.indexes(:items)} #{DB.primary_key(:items)} #{DB.primary_key_sequence(:items)}"
  puts "    #{DB[:items].returning.insert(label: 'row')}"
end

CHANGES.each { |name, work| change(name, work); look }
