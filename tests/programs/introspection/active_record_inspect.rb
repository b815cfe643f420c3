# ActiveRecord's schema.rb, and what its models ask.
require "active_record"
require "stringio"

ActiveRecord::Base.establish_connection(
  adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"], username: ENV["PGUSER"],
  database: ENV["PGDATABASE"], pool: 2
)
connection = ActiveRecord::Base.connection
out = StringIO.new
ActiveRecord::SchemaDumper.dump(connection, out)
puts out.string, connection.tables.sort.inspect, connection.data_sources.sort.inspect
%w[ev other].each do |table|
  connection.columns(table).each { |it| puts [table, it.name, it.sql_type, it.null, it.default, it.comment].inspect }
  puts connection.primary_keys(table).inspect, connection.primary_key(table).inspect
  connection.indexes(table).sort_by(&:name).each { |it| puts [it.name, it.columns, it.unique, it.where].inspect }
  puts connection.check_constraints(table).map(&:name).sort.inspect, connection.foreign_keys(table).length
  puts connection.pk_and_sequence_for(table).to_a.map(&:to_s).inspect, connection.table_comment(table).inspect
end
