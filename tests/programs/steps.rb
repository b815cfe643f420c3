# steps: what a program in Ruby says to whoever runs it; see steps.py.
require "time"

TS = Time.utc(2026, 1, 2, 3, 4, 5.678901r)
KEYS = {items: [:id], documents: [:id], events: %i[userid ts]}.freeze

# Does it, and prints what it returns.
def attempt(table)
  puts "#{table}: #{yield}"
rescue StandardError => e
  cause = e.respond_to?(:wrapped_exception) ? e.wrapped_exception : e.cause
  state = cause.respond_to?(:result) && cause.result&.error_field(PG::PG_DIAG_SQLSTATE)
  puts "! #{table}: #{state ? "#{state} " : ''}#{e.message}".tr("\n", " ").strip
end

# `steps`: blocks by their names.
def serve(steps)
  $stdin.each_line do |line|
    step = steps[line.strip.to_sym]
    step ? step.call : puts("-")
    puts "."
    $stdout.flush
  end
end

# A new row, without the key that the database makes.
def values(table, number, label)
  {label: label, amount: number}.merge(table == :events ? {userid: number} : {})
end

# A row with a key of its own.
def keyed(table, number, label)
  key = case table
        when :items then {id: 1_000_000 + number}
        when :documents then {id: "00000000-0000-4000-8000-000000000#{number}"}
        else {ts: TS}
        end
  values(table, number, label).merge(key)
end

# As text, its key first; a row is anything with [].
def shown(row, table)
  key = table == :events ? "userid=#{row[:userid]} #{row[:ts]&.utc&.iso8601(6)}" : "id=#{row[:id]}"
  "#{key} #{row[:label].inspect} #{row[:amount]}"
end

def all(rows, table)
  rows.map { |row| shown(row, table) }.join(", ")
end
