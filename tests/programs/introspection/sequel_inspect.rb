# Sequel's schema parsing, and a dump of it as a migration.
require "sequel"

db = Sequel.connect("postgres://#{ENV["PGUSER"]}@#{ENV["PGHOST"]}:#{ENV["PGPORT"]}/#{ENV["PGDATABASE"]}")
db.extension :schema_dumper
puts db.tables.sort.inspect, db.views.sort.inspect
%i[ev other].each do |table|
  db.schema(table).each { |name, it| puts [name, it.reject { |key| key == :oid }].inspect }
  puts db.indexes(table).sort.inspect, db.primary_key(table).inspect, db.primary_key_sequence(table).inspect
  puts db.foreign_key_list(table).inspect
  puts db.check_constraints(table).sort.inspect
  puts db[table].columns.inspect
end
puts db.dump_schema_migration
