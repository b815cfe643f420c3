# ActiveRecord's first days: migrations forth and back, schema.rb dumped and loaded; rows made, read by their keys, found, counted, cut
# into batches and pages, joined, locked, changed and deleted.
require "active_record"
require "stringio"
require "tmpdir"

ActiveRecord::Base.establish_connection(
  adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"], username: ENV["PGUSER"], database: ENV["PGDATABASE"], pool: 2
)
ActiveRecord::Migration.verbose = false
LINK = ActiveRecord::Base.connection

MIGRATIONS = {
  "1_first" => <<~RUBY,
    class First < ActiveRecord::Migration[6.1]
      def change
        create_table(:items) do |t|
          t.string :label, limit: 40, null: false, index: true
          t.decimal :amount, precision: 10, scale: 2, default: 0
          t.integer :lock_version, default: 0, null: false
          t.datetime :deleted_at
          t.timestamps
        end
        create_table(:documents, id: :uuid) do |t|
          t.references :item, foreign_key: {on_delete: :cascade}
          t.text :label, index: {unique: true}
          t.jsonb :body, default: {}, index: {using: :gin}
          t.string :tags, array: true, default: []
        end
        create_table(:events, primary_key: %i[userid ts]) do |t|
          t.bigint :userid, null: false
          t.datetime :ts, null: false, default: -> { "now()" }
          t.text :label
        end
        create_join_table(:items, :labels) { |t| t.index %i[item_id label_id], unique: true }
        create_table(:labels) { |t| t.string :name }
      end
    end
  RUBY
  "2_second" => <<~RUBY,
    class Second < ActiveRecord::Migration[6.1]
      def change
        add_column :items, :note, :string, default: "n"
        add_check_constraint :items, "amount >= 0", name: "good"
        rename_column :labels, :name, :title
        rename_table :labels, :stickers
        change_column_default :items, :note, from: "n", to: "m"
        reversible { |way| way.up { execute "insert into items (label, created_at, updated_at) values ('by a migration', now(), now())" } }
      end
    end
  RUBY
  "3_third" => <<~RUBY
    class Third < ActiveRecord::Migration[6.1]
      disable_ddl_transaction!
      def change
        add_index :items, %i[amount label], algorithm: :concurrently
        remove_column :items, :note, :string, default: "m"
        change_column_null :documents, :label, false, "none"
      end
    end
  RUBY
}.freeze

class Item < ActiveRecord::Base
  has_many :documents, -> { order(:label) }, dependent: :destroy
  scope :kept, -> { where(deleted_at: nil) }
  validates :label, uniqueness: true
end

class Document < ActiveRecord::Base
  belongs_to :item, optional: true, touch: true
end

class Event < ActiveRecord::Base
  self.primary_key = "userid"
end

def attempt(name)
  ActiveRecord::Base.transaction { puts "#{name} #{yield}" }
rescue ActiveRecord::ActiveRecordError => e
  puts "#{name} #{e.class} #{e.message}"
end

def dump
  out = StringIO.new
  ActiveRecord::SchemaDumper.dump(LINK, out)
  out.string
end

def migrate
  Dir.mktmpdir do |folder|
    MIGRATIONS.each { |name, text| File.write(File.join(folder, "#{name}.rb"), text) }
    context = ActiveRecord::MigrationContext.new(folder, ActiveRecord::SchemaMigration)
    context.migrate
    puts dump, context.current_version, context.migrations_status.inspect
    context.rollback(2)
    puts dump, context.needs_migration?
    context.up
    context.down(1)
    context.up
  end
  schema = dump
  LINK.tables.each { |table| LINK.drop_table(table, force: :cascade) }
  eval(schema) # rubocop:disable Security/Eval
  puts schema == dump, LINK.tables.sort.inspect
  [Item, Document, Event].each(&:reset_column_information)
end

def use_items
  items = (0...12).map { |n| Item.create!(label: "item #{n}", amount: n * 10) }
  one = items[3]
  puts Item.find(one.id).label, Item.find(items[0].id, items[1].id).map(&:label).inspect, Item.where(id: items[0..2]).count
  one.update!(label: "changed", amount: 31.5)
  one.increment!(:amount).touch
  one.reload
  puts one.label, one.amount, one.lock_version, Item.find_by(label: "item 5").id == items[5].id
  stale = Item.find(one.id)
  one.update!(amount: 1)
  attempt("stale") { stale.update!(amount: 2) }
  attempt("invalid") { Item.create!(label: "item 1") }
  puts Item.where("amount > ?", 50).update_all("amount = amount + 1"), Item.where(id: one.id).update_all(amount: 7)
  (0..3).each { |page| puts Item.order(amount: :desc, label: :asc).limit(4).offset(4 * page).pluck(:label).inspect }
  puts Item.sum(:amount), Item.average(:amount), Item.group(:lock_version).count.sort.inspect, Item.maximum(:label), Item.distinct.count(:amount)
  puts Item.in_batches(of: 5).map(&:size).inspect, Item.find_each(batch_size: 5).map(&:label).inspect
  puts Item.where(amount: 10..40).or(Item.where(label: %w[changed x])).order(:label).ids.length, Item.where.not(amount: nil).exists?(one.id)
  one.reload.update!(deleted_at: Time.utc(2026, 1, 2))
  puts Item.kept.count, Item.unscoped.where(deleted_at: Time.utc(2026, 1, 1)..Time.utc(2026, 1, 3)).pick(:label)
  items[7].destroy!
  puts Item.delete(items[8].id), Item.where(label: "item 9").delete_all, Item.where(id: items[7].id).first.inspect, Item.last.label
  Item.transaction { puts Item.lock.find(one.id).label, Item.lock("FOR UPDATE SKIP LOCKED").to_a.length }
  puts one.with_lock { one.label }, Item.select("*, amount * 2 as twice").find(one.id).twice, Item.take.attributes.keys.inspect
  puts Item.find_by_sql(["select items.* from items where id = ?", one.id]).first.label, Item.where(id: one.id).explain.empty?
  puts one.dup.tap { |it| it.update!(label: "a copy") }.id > one.id, Item.order(:label).reverse_order.first.label
  puts LINK.select_all("select * from items where id = #{one.id}").columns.inspect, Item.upsert_all(
    [{id: one.id, label: "upserted", created_at: one.created_at, updated_at: one.updated_at}]).length, one.reload.label
end

def use_relations
  one, other = Item.order(:id).first(2)
  4.times { |n| one.documents.create!(label: "document #{n}", body: {n: n}, tags: ["a", "b#{n}"]) }
  puts Document.find(one.documents.second.id).body, one.reload.documents.size, one.document_ids.length
  puts Document.includes(:item).order(:label).map { |it| [it.label, it.item.label] }.inspect
  puts Item.joins(:documents).group("items.id").having("count(*) > 1").pluck(:label).inspect
  puts Item.left_joins(:documents).where(documents: {id: nil}).order(:label).pluck(:label).inspect
  puts Item.eager_load(:documents).where("documents.label like 'doc%'").limit(2).order("items.id, documents.label").map { |it| it.documents.map(&:label) }.inspect
  puts Document.where("body @> ?", {n: 2}.to_json).pluck(:label).inspect, Document.where("? = any(tags)", "b1").count
  puts Item.where(id: Document.select(:item_id)).pluck(:label).inspect, Document.where(item: one).update_all(item_id: other.id)
  puts Document.destroy_by(label: "document 0").length, Document.where(item: other).order(:label).pluck(:label, :tags).inspect
  attempt("twice") { 2.times { Document.create!(label: "d") } }
  attempt("nothing") { Document.create!(label: "e", item_id: 10**9) }
  attempt("too little") { Item.create!(label: "little", amount: -1) }
  attempt("too long") { other.update!(label: "l" * 41) }
  puts other.reload.destroy.label, Document.count
end

def use_events
  6.times { |n| Event.create!(userid: n, label: "event #{n}") }
  one = Event.find(2)
  puts one.label, one.update!(label: "changed"), Event.where(userid: 2, ts: one.ts).count, Event.find_by(userid: 2, ts: one.ts).label
  puts Event.where(userid: 3).delete_all, one.destroy.label, Event.where(userid: [1, 4]).order(userid: :desc).pluck(:label).inspect, Event.count
  puts Event.insert_all([{userid: 7, label: "a"}, {userid: 8, label: "b"}], unique_by: %i[userid ts], returning: %i[userid label]).rows.inspect
end

def use_transactions
  Item.transaction do
    Item.create!(label: "kept")
    %w[lost kept\ too].each do |label|
      Item.transaction(requires_new: true) do
        Item.create!(label: label)
        raise ActiveRecord::Rollback if label == "lost"
      end
    end
  end
  Item.transaction(isolation: :serializable) { puts Item.where("label ~ 'kept|lost'").order(:label).pluck(:label).inspect }
  Item.find_or_create_by!(label: "found")
  puts Item.create_or_find_by!(label: "made").label, Item.find_or_initialize_by(label: "found").persisted?
  Item.connection.truncate_tables("items", "documents")
  puts Item.count
end

%i[migrate use_items use_relations use_events use_transactions].each do |step|
  puts "--- #{step}"
  send(step)
end
