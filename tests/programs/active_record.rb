# ActiveRecord: models that know nothing of a hash, with keys by default.
require "active_record"
require_relative "steps"

ActiveRecord::Base.establish_connection(
  adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"], username: ENV["PGUSER"],
  database: ENV["PGDATABASE"], pool: 2
)

# Rails asks the catalog for the key.
class Item < ActiveRecord::Base
end

class Document < ActiveRecord::Base
end

# It knows none of several columns, and has to be told.
class Event < ActiveRecord::Base
  self.primary_key = "userid"
end

MODELS = {items: Item, documents: Document, events: Event}.freeze

def each(how = nil)
  MODELS.each { |table, model| attempt([table, how].compact.join(" ")) { yield model, table } }
end

def find(model, table, label)
  all(model.where("label LIKE ?", "#{label}%").order(:label, :amount), table)
end

# What a row must not repeat; ActiveRecord has to be told of a key of several columns.
def unique(table)
  table == :events ? {unique_by: KEYS[table]} : {}
end

def many(table, from, to, label)
  (from...to).map { |number| values(table, number, "#{label} #{number}") }
end

serve(
  create: lambda {
    each do |model, table|
      row = model.create!(values(table, 100, "create it's \\ é"))
      row.update!(amount: 101)
      built = model.new(values(table, 101, "create 2"))
      built.save!
      find(model, table, "create")
    end
  },
  bulk: lambda {
    each do |model, table|
      model.create!(many(table, 200, 220, "bulk"))
      find(model, table, "bulk")
    end
    each("insert_all") { |model, table| model.insert_all(many(table, 220, 230, "bulk"), **unique(table)).length }
    each("insert_all!") { |model, table| model.insert_all!(many(table, 230, 240, "bulk")).length }
  },
  transaction: lambda {
    each do |model, table|
      model.transaction do
        model.create!(values(table, 300, "transaction 1"))
        model.transaction(requires_new: true) { model.create!(values(table, 301, "transaction 2")) }
      end
      model.transaction do
        model.create!(values(table, 302, "transaction 3"))
        raise ActiveRecord::Rollback
      end
      find(model, table, "transaction")
    end
  },
  returning: lambda {
    each("insert_all") do |model, table|
      rows = model.insert_all(many(table, 400, 403, "returning"), returning: %w[label amount], **unique(table))
      "#{rows.columns} #{rows.rows}"
    end
  },
  upsert: lambda {
    each("upsert_all") do |model, table|
      [3, 4].each do |amount|
        model.upsert_all([keyed(table, 501, "upsert 2").merge(amount: amount)], unique_by: KEYS[table])
      end
      model.insert_all([keyed(table, 501, "upsert 3")], **unique(table))
      find(model, table, "upsert")
    end
  },
  "find or create": lambda {
    each do |model, table|
      2.times do
        model.create_with(values(table, 550, "find or create")).find_or_create_by!(label: "find or create")
      end
      find(model, table, "find or create")
    end
  },
  duplicate: lambda {
    each { |model, table| 2.times { model.create!(keyed(table, 600, "duplicate")) } }
  }
)
