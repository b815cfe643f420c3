# Sequel's first days: migrations forth and back; rows made, read by their keys, found, counted, cut into pages, joined, locked, changed
# and deleted; a dump of the schema, made again.
require "sequel"
require "tmpdir"

DB = Sequel.connect(adapter: "postgres", host: ENV["PGHOST"], port: ENV["PGPORT"].to_i, user: ENV["PGUSER"],
                    database: ENV["PGDATABASE"], max_connections: 2)
DB.extension :schema_dumper, :pagination, :pg_json, :pg_array
Sequel.default_timezone = :utc
Sequel.extension :migration, :pg_json_ops

MIGRATIONS = {
  "001_first" => <<~RUBY,
    Sequel.migration do
      change do
        create_table(:items) do
          primary_key :id, type: :Bignum
          String :label, size: 40, null: false, index: true
          BigDecimal :amount, size: [10, 2], default: 0
          DateTime :deleted_at
          constraint(:good) { amount >= 0 }
        end
        create_table(:documents) do
          column :id, :uuid, primary_key: true, default: Sequel.function(:gen_random_uuid)
          foreign_key :item_id, :items, type: :Bignum, on_delete: :cascade
          String :label, unique: true
          column :body, :jsonb, default: "{}"
          column :tags, "text[]"
        end
        create_table(:events) do
          Bignum :userid, null: false
          column :ts, :timestamptz, default: Sequel.function(:now), null: false
          String :label
          primary_key %i[userid ts]
        end
        create_join_table(item_id: :items, document_id: {table: :documents, type: :uuid})
      end
    end
  RUBY
  "002_second" => <<~RUBY
    Sequel.migration do
      up do
        alter_table(:items) { add_column :note, String, default: "n"; add_index %i[amount label], name: :by_amount; set_column_type :label, String }
        from(:items).insert(label: "by a migration")
        rename_column :items, :note, :remark
      end
      down do
        from(:items).where(label: "by a migration").delete
        alter_table(:items) { drop_index %i[amount label], name: :by_amount; drop_column :remark }
      end
    end
  RUBY
}.freeze

def attempt(name)
  DB.transaction(savepoint: true) { puts "#{name} #{yield}" }
rescue Sequel::DatabaseError => e
  puts "#{name} #{e.class} #{e.message}"
end

def migrate
  Dir.mktmpdir do |folder|
    MIGRATIONS.each { |name, text| File.write(File.join(folder, "#{name}.rb"), text) }
    Sequel::Migrator.run(DB, folder)
    puts DB.dump_schema_migration(same_db: true)
    Sequel::Migrator.run(DB, folder, target: 1)
    puts DB[:items].columns.inspect, Sequel::Migrator.is_current?(DB, folder)
    Sequel::Migrator.run(DB, folder, target: 0)
    puts DB.tables.sort.inspect
    Sequel::Migrator.run(DB, folder)
  end
  puts DB.tables.sort.inspect, DB[:schema_info].all.inspect
end

# The tables must be there by then.
def define
  eval <<~RUBY # rubocop:disable Security/Eval
    class Item < Sequel::Model
      one_to_many :documents, order: :label
    end
    class Document < Sequel::Model
      many_to_one :item
    end
    class Event < Sequel::Model
      unrestrict_primary_key
    end
  RUBY
  puts Item.primary_key.inspect, Document.primary_key.inspect, Event.primary_key.inspect, Item.db_schema.keys.inspect
end

def use_items
  items = (0...12).map { |n| Item.create(label: "item #{n}", amount: n * 10) }
  one = items[3]
  puts Item[one.id].label, Item.where(id: items.first(3).map(&:id)).count, Item.with_pk!(one.id).values.keys.inspect
  one.update(label: "changed", amount: 31.5)
  puts one.refresh.label, one.amount.to_s("F"), Item.first(label: "item 5").id == items[5].id
  puts Item.where { amount > 50 }.update(amount: Sequel[:amount] + 1), Item.where(id: one.id).returning(:label).update(amount: 7).inspect
  DB[:items].order(Sequel.desc(:amount), :label).each_page(4) { |page| puts page.current_page, page.page_count, page.select_map(:label).inspect }
  puts Item.sum(:amount).to_s("F"), Item.avg(:amount).to_s("F"), Item.group_and_count { amount > 40 }.order(:count).map(&:values).inspect
  puts Item.order(:label).where(Sequel.ilike(:label, "ITEM%")).or(id: one.id).exclude(label: "x").select_map(%i[label amount]).length
  puts DB[:items].order(:id).paged_each(rows_per_fetch: 5).map { |it| it[:label] }.inspect, Item.empty?, Item.max(:label)
  one.update(deleted_at: Time.utc(2026, 1, 2))
  puts Item.where(deleted_at: nil).count, Item.where(deleted_at: Time.utc(2026, 1, 1)..Time.utc(2026, 1, 3)).get(:label)
  items[7].destroy
  puts Item.where(id: items[8].id).delete, DB[:items].where(label: "item 9").returning.delete.map { |it| it.keys }.inspect, Item[items[7].id].inspect
  DB.transaction { puts Item.for_update[one.id].label, Item.order(:id).for_update.skip_locked.limit(3).map(:label).inspect }
  puts one.lock! { one.label }.label, Item.select_append { (amount * 2).as(twice) }[id: one.id][:twice].to_s("F"), Item.last.label
  puts DB["select * from items where id = ?", one.id].first.keys.inspect, Item.order(:id).as_hash(:id, :label).length
  puts DB[:items].where(id: one.id).prepare(:first, :by_id).call[:label], DB[:items].where(id: :$n).prepare(:first, :by_n).call(n: items[4].id)[:label]
  puts DB[:items].select(:label, Sequel.function(:row_number).over(order: :label).as(:n)).order(:n).limit(2).all.inspect
  puts DB[:items].where(id: one.id).explain.empty?, Item.where(id: one.id).update_sql(label: "x")
end

def use_relations
  one, other = Item.order(:id).first(2)
  4.times { |n| one.add_document(label: "document #{n}", body: Sequel.pg_jsonb({n: n}), tags: Sequel.pg_array(["a", "b#{n}"])) }
  puts one.documents.map(&:label).inspect, Document[one.documents[1].id].body.inspect, one.documents_dataset.count
  puts Document.eager(:item).order(:label).all.map { |it| [it.label, it.item.label] }.inspect
  puts Item.association_join(:documents).select_all(:items).distinct.map(&:values).map(&:keys).inspect
  puts Item.eager_graph(:documents).where(Sequel[:items][:id] => one.id).all.map { |it| [it.label, it.documents.length] }.inspect
  puts DB[:items].join(:documents, item_id: :id).select_group(Sequel[:items][:label]).select_append { count.function.*.as(n) }.all.inspect
  puts DB[:items].left_join(:documents, item_id: :id).where(Sequel[:documents][:id] => nil).count
  puts Document.where(Sequel.pg_jsonb_op(:body).contains(n: 2)).select_map(:label).inspect
  puts DB[:some].with(:some, DB[:items].where(id: one.id)).all.map(&:keys).inspect, DB[:items].select(:label).union(DB[:documents].select(:label)).order(:label).limit(3).all.inspect
  puts DB[:documents].returning(:label).insert([:label], DB[:items].where(Sequel.like(:label, "item 1%")).order(:id).select(Sequel.join(["copy of ", :label]))).inspect
  one.documents.first.update(item: other)
  puts other.documents.map(&:label).inspect, one.remove_document(one.documents[1]).label, Document.order(:label).select_map(:label).inspect
  attempt("twice") { 2.times { Document.create(label: "d") } }
  attempt("nothing") { Document.create(label: "e", item_id: 10**9) }
  attempt("too much") { Item.create(label: "much", amount: 10**9) }
  puts other.destroy.label, Document.count
end

def use_events
  6.times { |n| Event.create(userid: n, label: "event #{n}") }
  one = Event.first(userid: 2)
  puts Event[2, one.ts].label, one.update(label: "changed").label, Event.where(%i[userid ts] => [[2, one.ts], [3, one.ts]]).count
  Event.where(userid: 2).update(userid: 100)
  one = Event[100, one.ts]
  puts one.label, Event.where(userid: 3).delete, one.destroy.label, Event.where(userid: 1..4).reverse(:userid).select_map(:label).inspect
  puts DB[:events].multi_insert([{userid: 7, label: "a"}, {userid: 8, label: "b"}], return: :primary_key).length, Event.count
end

def use_transactions
  DB.transaction do
    Item.create(label: "kept")
    ["lost", "kept too"].each do |label|
      DB.transaction(savepoint: true) do
        Item.create(label: label)
        raise Sequel::Rollback if label == "lost"
      end
    end
    DB.after_commit { puts "committed" }
  end
  DB.transaction(isolation: :serializable, read_only: true) { puts Item.where(label: /kept|lost/).order(:label).select_map(:label).inspect }
  DB.transaction(retry_on: [Sequel::UniqueConstraintViolation], num_retries: 1) { puts Item.find_or_create(label: "found").label }
  DB[:items].truncate(cascade: true, restart: true)
  puts Item.create(label: "first").id
end

def dump
  schema = DB.dump_schema_migration(same_db: true)
  DB.drop_table(*DB.tables, cascade: true)
  eval(schema).apply(DB, :up) # rubocop:disable Security/Eval
  puts schema == DB.dump_schema_migration(same_db: true), DB.tables.sort.inspect
end

%i[migrate dump define use_items use_relations use_events use_transactions].each do |step|
  puts "--- #{step}"
  send(step)
end
