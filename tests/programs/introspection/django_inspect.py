"""Django's inspectdb, and what its migrations ask."""
import os

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection

settings.configure(DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
    "USER": os.environ["PGUSER"], "NAME": os.environ["PGDATABASE"]}})
django.setup()
call_command("inspectdb", include_partitions=True, include_views=True)
asks = connection.introspection
with connection.cursor() as cursor:
    print(sorted(asks.get_table_list(cursor)), asks.table_names(include_views=True))
    for table in ("ev", "other"):
        print(asks.get_table_description(cursor, table))
        for name, constraint in sorted(asks.get_constraints(cursor, table).items()):
            print(name, constraint)
        print(asks.get_primary_key_column(cursor, table), asks.get_relations(cursor, table),
              asks.get_sequences(cursor, table))
