"""Django's ORM: models that know nothing of a hash."""
import datetime
import os
import uuid

import django
from django.conf import settings
from django.db import models, transaction
from django.db.models.fields import AutoFieldMixin

from steps import attempt, serve

settings.configure(USE_TZ=True, TIME_ZONE="UTC", DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
                   DATABASES={"default": {
                       "ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"],
                       "PORT": os.environ["PGPORT"], "USER": os.environ["PGUSER"],
                       "NAME": os.environ["PGDATABASE"]}})
django.setup()

TS = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, datetime.timezone.utc)


class Item(models.Model):
    label = models.TextField()
    amount = models.IntegerField(default=0)

    class Meta:
        app_label = "tests"
        db_table = "items"


class Document(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    label = models.TextField()
    amount = models.IntegerField(default=0)

    class Meta:
        app_label = "tests"
        db_table = "documents"


class Event(models.Model):
    userid = models.BigIntegerField(primary_key=True)
    ts = models.DateTimeField(auto_now_add=True)
    label = models.TextField()
    amount = models.IntegerField(default=0)

    class Meta:
        app_label = "tests"
        db_table = "events"


class KeyByDefault(AutoFieldMixin, models.UUIDField):
    """What the database makes, as it does for an AutoField."""


class DocumentByDefault(models.Model):
    id = KeyByDefault(primary_key=True)
    label = models.TextField()
    amount = models.IntegerField(default=0)

    class Meta:
        app_label = "tests"
        db_table = "documents"


class EventByDefault(models.Model):
    """Of whose time it knows nothing."""
    userid = models.BigIntegerField(primary_key=True)
    label = models.TextField()
    amount = models.IntegerField(default=0)

    class Meta:
        app_label = "tests"
        db_table = "events"


MODELS = {"items": (Item, {}), "documents": (Document, {}), "events": (Event, {"userid": 0})}
BY_DEFAULT = {"documents": (DocumentByDefault, {}), "events": (EventByDefault, {"userid": 0})}


def shown(row):
    return (f"userid={row.pk} {row.ts.isoformat()}" if isinstance(row, Event) else
            f"id={row.pk}") + f" {row.label!r} {row.amount}"


def new(model, key, number, label):
    """A row that is not stored yet."""
    return model(label=label, amount=number, **{name: number for name in key})


def each(work, those=MODELS):
    """Does work(model, key) with each model, and prints the rows that it returns."""
    for table, (model, key) in those.items():
        attempt(table, lambda: ", ".join(map(shown, work(model, key))))


def create():
    def save(model, key):
        row = new(model, key, 100, "create it's \\ é")
        row.save(force_insert=True)
        row.amount += 1
        row.save()
        yield row
        yield model.objects.create(label="create 2", amount=2, **{name: 101 for name in key})
        yield from model.objects.filter(label__startswith="create").order_by("label")
    each(save)

    def save_by_default(model, key):
        row = new(model, key, 110, "create by default")
        row.save(force_insert=True)
        row.amount += 1
        row.save()
        yield row
    each(save_by_default, BY_DEFAULT)


def bulk():
    def bulk_create(model, key):
        yield from model.objects.bulk_create(
            [new(model, key, number, f"bulk {number}") for number in range(200, 220)], batch_size=8)
    each(bulk_create)
    attempt("events", lambda: ", ".join(map(shown, bulk_create(EventByDefault, {"userid": 0}))))


def in_transaction():
    def both(model, key):
        with transaction.atomic():
            yield model.objects.create(label="transaction 1", **{name: 300 for name in key})
            with transaction.atomic():
                yield model.objects.create(label="transaction 2", **{name: 301 for name in key})
        try:
            with transaction.atomic():
                model.objects.create(label="transaction 3", **{name: 302 for name in key})
                raise KeyError
        except KeyError:
            pass
    each(both)


def returning():
    """Django asks for the key with RETURNING; then the row is read with it."""
    def read_again(model, key):
        row = new(model, key, 400, "returning")
        row.save(force_insert=True)
        yield model.objects.get(pk=row.pk)
    each(read_again)


def upsert():
    def update(model, key):
        key = {name: 501 for name in key}
        for amount in (3, 4):
            row, made = model.objects.update_or_create(label="upsert 2",
                                                       defaults={**key, "amount": amount})
            yield row
            assert made == (amount == 3)
        rows = [model(pk=row.pk, label="upsert 3", amount=5)]
        yield from model.objects.bulk_create(rows, ignore_conflicts=True)
    each(update)


def find_or_create():
    def get_or_create(model, key):
        for amount in (1, 2):
            row, made = model.objects.get_or_create(label="find or create", defaults={
                "amount": amount, **{name: 550 for name in key}})
            yield row
            assert made == (amount == 1)
    each(get_or_create)


def duplicate():
    def twice(model, key):
        row = new(model, key, 600, "duplicate")
        row.save(force_insert=True)
        model.objects.bulk_create([model(pk=row.pk, label="duplicate 2")])
        return []
    MODELS["items"][0](pk=2000000, label="duplicate").save(force_insert=True)
    attempt("items", lambda: Item(pk=2000000, label="duplicate 2").save(force_insert=True))
    attempt("events", lambda: twice(Event, {"userid": 0}))


serve({"create": create, "bulk": bulk, "transaction": in_transaction, "returning": returning,
       "upsert": upsert, "find or create": find_or_create, "duplicate": duplicate})
