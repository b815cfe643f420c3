"""Django's first days: an app with its migrations and Django's own, forth and back; rows made, read by their keys, found, counted,
cut into pages, joined, locked, changed and deleted; what dumpdata and inspectdb say of them, and loaddata."""
import datetime
import io
import os
import sys
import tempfile

import django
from django.conf import settings
from django.core.management import call_command
from django.core.paginator import Paginator
from django.db import IntegrityError, connection, models, transaction
from django.db.models import Avg, Count, Exists, F, OuterRef, Q, Sum, Value
from django.db.models.functions import Coalesce, Concat, Lower, TruncDate

MODELS = '''
import uuid
from django.db import models

class Item(models.Model):
    label = models.CharField(max_length=40, db_index=True)
    amount = models.IntegerField(default=0)
    deleted = models.DateTimeField(null=True)
    class Meta:
        db_table = "items"
        constraints = [models.CheckConstraint(check=models.Q(amount__gte=0), name="items_good")]

class Tag(models.Model):
    name = models.SlugField(primary_key=True)
    items = models.ManyToManyField(Item)

class Document(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    item = models.ForeignKey(Item, models.CASCADE, null=True, related_name="documents")
    label = models.TextField(unique=True)
    body = models.JSONField(default=dict)
    class Meta:
        db_table = "documents"

class Event(models.Model):
    userid = models.BigIntegerField(primary_key=True)
    ts = models.DateTimeField(auto_now_add=True)
    label = models.TextField(null=True)
    class Meta:
        managed = False
        db_table = "events"
'''
# What makemigrations does not make: a key of two columns, and another default; then the table changes.
MORE = {"0002_more": '''
from django.db import migrations, models
class Migration(migrations.Migration):
    dependencies = [("shop", "0001_initial")]
    operations = [
        migrations.RunSQL("create table events (userid bigint not null, ts timestamptz not null default now(), label text,"
                          " primary key (userid, ts))", "drop table events"),
        migrations.RunSQL("alter table documents alter id set default gen_random_uuid()", "alter table documents alter id drop default"),
        migrations.AddField("item", "note", models.TextField(default="n")),
        migrations.AddIndex("item", models.Index(fields=["amount"], name="by_amount")),
    ]
''', "0003_data": '''
from django.db import migrations
def fill(apps, editor):
    Item = apps.get_model("shop", "Item")
    Item.objects.bulk_create([Item(label=f"filled {n}", amount=n) for n in range(3)])
def empty(apps, editor):
    apps.get_model("shop", "Item").objects.filter(label__startswith="filled").delete()
class Migration(migrations.Migration):
    dependencies = [("shop", "0002_more")]
    operations = [migrations.RunPython(fill, empty), migrations.RemoveField("item", "note")]
'''}

folder = tempfile.TemporaryDirectory()
shop = os.path.join(folder.name, "shop")
os.makedirs(os.path.join(shop, "migrations"))


def write(name, text=""):
    with open(os.path.join(shop, name), "w", encoding="utf-8") as file:
        file.write(text)


write("__init__.py")
write("models.py", MODELS)
write("migrations/__init__.py")
sys.path.insert(0, folder.name)
settings.configure(
    USE_TZ=True, TIME_ZONE="UTC", DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", SECRET_KEY="none",
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "django.contrib.admin", "shop"],
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
        "USER": os.environ["PGUSER"], "NAME": os.environ["PGDATABASE"], "DISABLE_SERVER_SIDE_CURSORS": False}})
django.setup()
from django.contrib.auth.models import Group, Permission, User  # noqa: E402
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402
from shop.models import Document, Event, Item, Tag  # noqa: E402

TS = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, datetime.timezone.utc)


def command(*words, **options):
    out = io.StringIO()
    call_command(*words, stdout=out, **options)
    print(words[0], out.getvalue().replace(folder.name, ""))


def attempt(name, work):
    try:
        with transaction.atomic():
            print(name, work())
    except django.db.Error as failure:
        print(name, type(failure).__name__, failure)


def migrate():
    command("makemigrations", "shop", verbosity=0)
    for name, text in MORE.items():
        write(f"migrations/{name}.py", text)
    command("migrate", "--no-color")
    command("sqlmigrate", "shop", "0002", "--no-color")
    command("migrate", "shop", "0001", "--no-color")
    command("migrate", "--no-color")
    command("showmigrations", "--no-color")
    command("migrate", "--check", "--no-color")


def use_items():
    items = [Item.objects.create(label=f"item {n}", amount=n * 10) for n in range(12)]
    one = items[3]
    print(Item.objects.get(pk=one.pk).label, Item.objects.filter(pk__in=[it.pk for it in items[:3]]).count())
    print(Item.objects.in_bulk([items[1].pk, items[2].pk]).keys() == {items[1].pk, items[2].pk})
    one.label = "changed"
    one.save()
    one.save(update_fields=["amount"])
    one.refresh_from_db()
    print(one.label, Item.objects.filter(pk=one.pk).update(amount=F("amount") + 1), Item.objects.filter(amount__gt=50).update(amount=50))
    Item.objects.bulk_update([Item(pk=it.pk, label=f"bulk {it.pk - items[0].pk}") for it in items[:4]], ["label"])
    print(list(Item.objects.order_by("label").values_list("label", "amount")))
    for page in Paginator(Item.objects.order_by("-amount", "label"), 4):
        print(page, [it.label for it in page])
    print(Item.objects.aggregate(Sum("amount"), Count("id"), Avg("amount")), Item.objects.filter(label__icontains="ITEM").exists())
    print(list(Item.objects.annotate(name=Concat(Lower("label"), Value("!", models.TextField()), output_field=models.TextField())).filter(Q(amount=50) | ~Q(label="x")).values_list(
        "name", flat=True).order_by("name")))
    Item.objects.filter(pk=one.pk).update(deleted=TS)
    print(Item.objects.filter(deleted__isnull=True).count(), Item.objects.only("label").get(pk=one.pk).amount)
    print(items[5].delete(), Item.objects.filter(label="item 6").delete(), Item.objects.filter(pk=items[5].pk).first())
    print(Item.objects.raw("select * from items where id = %s", [one.pk])[0].label, len(list(Item.objects.order_by("id").iterator(2))))
    print(sorted(Item.objects.values_list("label").union(Tag.objects.values_list("name"))), Item.objects.order_by("id").last().label)
    with transaction.atomic():
        print(Item.objects.select_for_update().get(pk=one.pk).label, Item.objects.select_for_update(skip_locked=True, of=("self",)).count())
    print(Item.objects.filter(pk=one.pk).explain() != "", Item.objects.dates("deleted", "day"), Item.objects.latest("id").label)


def use_relations():
    one, other = Item.objects.order_by("id")[:2]
    tags = Tag.objects.bulk_create([Tag("red"), Tag("green"), Tag("blue")])
    one.tag_set.add(*tags)
    one.tag_set.remove(tags[0])
    other.tag_set.set(tags[:1])
    print([(tag.name, list(tag.items.values_list("label", flat=True))) for tag in Tag.objects.order_by("name").prefetch_related("items")])
    documents = [Document.objects.create(item=one, label=f"document {n}", body={"n": n, "of": [1, None]}) for n in range(4)]
    print(Document.objects.get(pk=documents[0].pk).body, Document.objects.filter(body__n__gte=2).count())
    print([(it.label, it.item.label) for it in Document.objects.select_related("item").order_by("label")])
    print(list(Item.objects.annotate(n=Count("documents")).filter(n__gt=0).values("label", "n")))
    print(list(Item.objects.filter(Exists(Document.objects.filter(item=OuterRef("pk")))).values_list("label", flat=True)))
    print(Document.objects.filter(item__label=one.label, item__amount__lt=100).update(item=other))
    print(Document.objects.filter(pk__in=[it.pk for it in documents[:2]]).delete(), Document.objects.order_by("label").values_list("label", "item__label"))
    attempt("twice", lambda: Document.objects.create(label="document 3"))
    attempt("nothing", lambda: Document.objects.create(label="refers to nothing", item_id=10**9) and connection.check_constraints())
    attempt("too little", lambda: Item.objects.create(label="little", amount=-1))
    attempt("too long", lambda: Item.objects.filter(pk=one.pk).update(label="l" * 41))
    print(other.delete())


def use_events():
    for n in range(6):
        Event.objects.create(userid=n, label=f"event {n}")
    with connection.cursor() as cursor:
        cursor.execute("insert into events (userid) values (%s) returning userid, ts = now(), label", [100])
        print(cursor.fetchall())
        cursor.executemany("insert into events (userid, ts, label) values (%s, %s, %s)", [(7, TS, "a"), (8, TS, None)])
        cursor.execute("select * from events where userid = %s and ts = %s", [7, TS])
        print(cursor.fetchall(), [column.name for column in cursor.description])
    print(Event.objects.filter(userid=3).update(label="three"), Event.objects.get(userid=3).label)
    print(list(Event.objects.annotate(day=TruncDate("ts"), name=Coalesce("label", Value("-", models.TextField()), output_field=models.TextField())).filter(ts=TS).values_list("userid", "day", "name").order_by("userid")))
    print(Event.objects.filter(userid=7, ts=TS).delete(), Event.objects.get(userid=2).delete(), Event.objects.count())


def use_transactions():
    with transaction.atomic():
        Item.objects.create(label="kept")
        for label in ("lost", "kept too"):
            mark = transaction.savepoint()
            Item.objects.create(label=label)
            (transaction.savepoint_rollback if label == "lost" else transaction.savepoint_commit)(mark)
        try:
            with transaction.atomic():
                Item.objects.create(pk=Item.objects.first().pk, label="twice")
        except IntegrityError as failure:
            print(failure)
        transaction.on_commit(lambda: print("committed"))
    print(list(Item.objects.filter(label__regex="kept|lost").order_by("label").values_list("label", flat=True)))


def use_django():
    user = User.objects.create_superuser("ann", "ann@example.org", "secret")
    group = Group.objects.create(name="staff")
    group.permissions.set(Permission.objects.filter(content_type__app_label="shop"))
    user.groups.add(group)
    print(User.objects.get(username="ann").has_perm("shop.add_item"), sorted(user.get_group_permissions()))
    session = SessionStore()
    session["basket"] = [1, 2]
    session.create()
    session["basket"].append(3)
    session.modified = True
    session.save()
    print(SessionStore(session.session_key)["basket"])
    SessionStore(session.session_key).delete()
    attempt("a name twice", lambda: User.objects.create_user("ann"))


def dump():
    path = os.path.join(folder.name, "dump.json")
    command("dumpdata", "shop.item", "shop.tag", "--natural-foreign", output=path)
    with open(path, encoding="utf-8") as file:
        print(file.read())
    command("flush", interactive=False)
    command("loaddata", path)
    print(Item.objects.count(), Item.objects.create(label="next").pk > Item.objects.order_by("id")[0].pk, Event.objects.count())
    command("inspectdb")
    command("sqlsequencereset", "shop", "--no-color")


for step in (migrate, use_items, use_relations, use_events, use_transactions, use_django, dump):
    print("---", step.__name__)
    step()
