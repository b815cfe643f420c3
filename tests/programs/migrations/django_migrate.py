"""Django's migrations, one operation after the other: what each says, and what a row of the table is after it."""
import os

import django
from django.conf import settings
from django.db import connection, migrations, models
from django.db.migrations.state import ProjectState

settings.configure(USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
    "USER": os.environ["PGUSER"], "NAME": os.environ["PGDATABASE"]}})
django.setup()

CHANGES = (
    migrations.CreateModel("Item", [
        ("id", models.AutoField(primary_key=True)), ("label", models.CharField(max_length=20)),
        ("amount", models.IntegerField(default=0))], options={"db_table": "items"}),
    migrations.CreateModel("Document", [
        ("userid", models.BigIntegerField(primary_key=True)), ("ts", models.DateTimeField(auto_now_add=True)),
        ("label", models.TextField())], options={"db_table": "documents"}),
    migrations.AddField("Item", "note", models.TextField(null=True)),
    migrations.AddField("Item", "count", models.IntegerField(default=5)),
    migrations.AddField("Item", "slug", models.SlugField(null=True)),
    migrations.AlterField("Item", "label", models.CharField(max_length=40, null=True)),
    migrations.AlterField("Item", "label", models.TextField(default="")),
    migrations.AlterField("Item", "amount", models.BigIntegerField(null=True, db_index=True)),
    migrations.AlterField("Item", "amount", models.DecimalField(max_digits=10, decimal_places=2, default=0)),
    migrations.RenameField("Item", "note", "remark"),
    migrations.AlterField("Item", "count", models.IntegerField(null=True)),
    migrations.RemoveField("Item", "count"),
    migrations.AddIndex("Item", models.Index(fields=["label", "-amount"], name="item_la")),
    migrations.RemoveIndex("Item", "item_la"),
    migrations.AlterUniqueTogether("Item", {("label", "id")}),
    migrations.AlterIndexTogether("Item", {("slug", "amount")}),
    migrations.AlterUniqueTogether("Item", set()),
    migrations.AddConstraint("Item", models.CheckConstraint(check=models.Q(amount__gte=0), name="amount_good")),
    migrations.AddConstraint("Item", models.UniqueConstraint(
        fields=["slug"], condition=models.Q(amount__gt=5), name="slug_one")),
    migrations.RemoveConstraint("Item", "amount_good"),
    migrations.AlterField("Item", "id", models.BigAutoField(primary_key=True)),
    migrations.AddField("Document", "item", models.ForeignKey("Item", models.CASCADE, null=True)),
    migrations.RemoveField("Document", "item"),
    migrations.RenameModel("Document", "Paper"),
    migrations.RunSQL("alter table items drop column id_hash"),
)


def said(failure):
    return str(failure).strip().splitlines()[0]


def change(operation, before, after):
    try:
        with connection.schema_editor() as editor:
            operation.database_forwards("tests", editor, before, after)
        print(operation.describe())
    except django.db.Error as failure:
        print("refused:", operation.describe())


def insert():
    with connection.cursor() as cursor:
        try:
            cursor.execute("insert into items (label, amount) values ('row', 1) returning *")
            print("   ", [column.name for column in cursor.description], cursor.fetchall())
        except django.db.Error as failure:
            print("   ", said(failure))


def look():
    asks = connection.introspection
    with connection.cursor() as cursor:
        for table in sorted(asks.table_names(cursor)):
            print(table, [(column.name, column.type_code, column.null_ok) for column in asks.get_table_description(cursor, table)])
            print(sorted(asks.get_constraints(cursor, table).items()))


state = ProjectState()
for one in CHANGES:
    old = state.clone()
    one.state_forwards("tests", state)
    change(one, old, state)
    insert()
look()
