# Sequel: datasets and models that know nothing of a hash, with keys by default.
require "sequel"
require_relative "steps"

DB = Sequel.connect(adapter: "postgres", host: ENV["PGHOST"], port: ENV["PGPORT"].to_i,
                    user: ENV["PGUSER"], database: ENV["PGDATABASE"], max_connections: 2)
Sequel.default_timezone = :utc

MODELS = KEYS.to_h do |table, key|
  model = Class.new(Sequel::Model(DB[table])) { set_primary_key key }
  model.unrestrict_primary_key
  [table, model]
end.freeze

def each
  KEYS.each_key { |table| attempt(table) { yield DB[table], table } }
end

def find(rows, table, label)
  all(rows.where(Sequel.like(:label, "#{label}%")).order(:label, :amount), table)
end

def many(table, from, to, label)
  (from...to).map { |number| values(table, number, "#{label} #{number}") }
end

serve(
  create: lambda {
    each do |rows, table|
      rows.insert(values(table, 100, "create it's \\ é"))
      made = MODELS[table].create(values(table, 101, "create 2"))
      made.update(amount: 102)
      "#{shown(made, table)}, #{find(rows, table, 'create')}"
    end
  },
  bulk: lambda {
    each do |rows, table|
      rows.multi_insert(many(table, 200, 220, "bulk"))
      rows.import(%i[label amount] + (table == :events ? [:userid] : []),
                  many(table, 220, 240, "bulk").map(&:values), commit_every: 8)
      find(rows, table, "bulk")
    end
  },
  transaction: lambda {
    each do |rows, table|
      DB.transaction do
        rows.insert(values(table, 300, "transaction 1"))
        DB.transaction(savepoint: true) { rows.insert(values(table, 301, "transaction 2")) }
      end
      DB.transaction(rollback: :always) { rows.insert(values(table, 302, "transaction 3")) }
      find(rows, table, "transaction")
    end
  },
  returning: lambda {
    each do |rows, table|
      all(rows.returning.multi_insert(many(table, 400, 403, "returning")) +
          rows.returning.insert(values(table, 403, "returning 403")), table)
    end
  },
  upsert: lambda {
    each do |rows, table|
      row = keyed(table, 500, "upsert 1")
      [1, 2].each do |amount|
        rows.insert_conflict(target: KEYS[table], update: {amount: Sequel[:excluded][:amount]})
            .insert(row.merge(amount: amount))
      end
      rows.insert_ignore.insert(row)
      find(rows, table, "upsert")
    end
  },
  "find or create": lambda {
    each do |rows, table|
      2.times do
        MODELS[table].find_or_create(label: "find or create") do |new|
          new.set(values(table, 550, "find or create"))
        end
      end
      find(rows, table, "find or create")
    end
  },
  duplicate: lambda {
    each { |rows, table| 2.times { rows.insert(keyed(table, 600, "duplicate")) } }
  }
)
