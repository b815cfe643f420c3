"""SQLAlchemy's inspector, and tables that are reflected."""
import os

from sqlalchemy import MetaData, create_engine, inspect, select
from sqlalchemy.schema import CreateIndex, CreateTable

engine = create_engine("postgresql://{PGUSER}@{PGHOST}:{PGPORT}/{PGDATABASE}".format(**os.environ))
inspector = inspect(engine)
print(inspector.get_table_names(), inspector.get_view_names(), inspector.get_schema_names())
for table in inspector.get_table_names():
    for kind in ("columns", "pk_constraint", "indexes", "unique_constraints", "check_constraints", "foreign_keys",
                 "table_comment"):
        found = getattr(inspector, f"get_{kind}")(table)
        print(table, kind, *(sorted(map(str, found)) if kind in ("indexes", "check_constraints") else [found]))
metadata = MetaData()
metadata.reflect(engine)
for table in metadata.sorted_tables:
    print(CreateTable(table).compile(engine), *sorted(str(CreateIndex(index).compile(engine)) for index in table.indexes))
print(engine.connect().execute(select(metadata.tables["ev"])).keys())
