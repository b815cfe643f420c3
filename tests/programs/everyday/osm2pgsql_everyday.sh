#!/bin/bash
# osm2pgsql: it makes its tables of nodes, ways and relations and fills them by COPY, as one transaction and, where keyspread stands in
# between, in batches; then it takes a change into them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tables='planet_osm_nodes planet_osm_ways planet_osm_rels'

nodes() { # nodes FIRST LAST NAME
  for ((i = $1; i <= $2; i++)); do
    echo "<node id='$i' version='1' lat='$((i % 90)).25' lon='8.5'><tag k='name' v='$3 &quot;$i\\, {}'/></node>"
  done
}

ways() { # ways FIRST LAST NAME
  for ((i = $1; i <= $2; i++)); do
    echo "<way id='$i' version='1'><nd ref='$i'/><nd ref='$((i + 1))'/><tag k='highway' v='$3&#9;&#10;ü'/></way>"
  done
}

print_tables() {
  for table in $tables; do
    psql -Atc "select '$table', count(*), md5(string_agg(t::text, '|' order by id)) from (select * from $table) t"
  done
}

# It asks whether PostGIS is there, and with --output=null makes nothing of it.
psql -qc "insert into pg_extension select 1, 'postgis', 10, 2200, false, '3.3.2'"
{
  echo '<osm version="0.6">' && nodes 1 400 node && ways 1 100 way
  for i in {1..20}; do
    echo "<relation id='$i' version='1'><member type='way' ref='$i' role='a &quot;$i\\'/><tag k='type' v='route'/></relation>"
  done
  echo '</osm>'
} >"$folder/all.osm"
{ echo '<osmChange version="0.6"><modify>' && nodes 390 410 changed && ways 50 60 changed && echo '</modify></osmChange>'; } >"$folder/new.osc"
for mode in atomic partition; do
  export PGOPTIONS="-c keyspread.copy=$mode"
  osm2pgsql --create --slim --output=null "$folder/all.osm"
  print_tables
  osm2pgsql --append --slim --output=null "$folder/new.osc"
  print_tables
done
