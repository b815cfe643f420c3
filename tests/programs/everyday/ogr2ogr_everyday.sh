#!/usr/bin/env bash
# ogr2ogr's and ogrinfo's first days: a layer made, appended to, made anew, looked at, found in, changed, taken out and dropped.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
feature() { echo '{"type": "Feature", "geometry": null, "properties": {"label": "'"$1"'", "n": '"$2"', "day": "2026-01-02"}}'; }
echo '{"type": "FeatureCollection", "features": ['"$(feature "it's é" 1), $(feature b 2)"']}' > "$folder/places.geojson"
say() {
  echo "--- $*"
  "$@" 2>&1
  echo "exit $?"
}
put() { say ogr2ogr "$@" -f PostgreSQL PG: "$folder/places.geojson" -nln places --config PG_USE_COPY NO | sed "s,$folder,,"; }

put -nlt NONE
put -append
put -overwrite -nlt NONE -lco FID=id -lco FID64=YES
put -append -addfields
put -update -append -ds_transaction
say ogrinfo -ro -so PG:
say ogrinfo -ro PG: places
say ogrinfo -ro PG: places -fid 1
say ogrinfo -ro PG: places -where "n = 2"
say ogrinfo PG: -sql "update places set n = 5 where id = 1"
say ogrinfo PG: -sql "delete from places where id = 2"
say ogrinfo PG: -sql "alter table places add column x integer"
say ogr2ogr -f CSV /vsistdout/ PG: places
say ogrinfo -ro PG: -sql "select count(*) from places"
