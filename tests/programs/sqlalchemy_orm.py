"""SQLAlchemy, its ORM and its core: tables that know nothing of a hash, with keys by default."""
import datetime
import os

from sqlalchemy import (BigInteger, Column, DateTime, Integer, Text, create_engine, func, select,
                        text)
from sqlalchemy.dialects.postgresql import UUID, insert
from sqlalchemy.orm import Session, declarative_base

from steps import attempt, serve

TS = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, datetime.timezone.utc)
Base = declarative_base()
engine = create_engine("postgresql+psycopg2://{PGUSER}@{PGHOST}:{PGPORT}/{PGDATABASE}".format(
    **os.environ))


class Item(Base):
    __tablename__ = "items"
    id = Column(BigInteger, primary_key=True)
    label = Column(Text)
    amount = Column(Integer)


class Document(Base):
    __tablename__ = "documents"
    id = Column(UUID, primary_key=True, server_default=text("gen_random_uuid()"))
    label = Column(Text)
    amount = Column(Integer)


class Event(Base):
    __tablename__ = "events"
    userid = Column(BigInteger, primary_key=True, autoincrement=False)
    ts = Column(DateTime(timezone=True), primary_key=True, server_default=func.now())
    label = Column(Text)
    amount = Column(Integer)


MODELS = {"items": Item, "documents": Document, "events": Event}


def values(model, number, label):
    return {"label": label, "amount": number, **({"userid": number} if model is Event else {})}


def shown(row):
    return (f"userid={row.userid} {row.ts.isoformat()}" if hasattr(row, "userid") else
            f"id={row.id}") + f" {row.label!r} {row.amount}"


def each(work):
    """Does work(model) with each model, and prints the rows that it returns."""
    for table, model in MODELS.items():
        attempt(table, lambda: ", ".join(map(shown, work(model))))


def stored(session, model, label):
    return session.execute(select(model.__table__).where(model.label.startswith(label))
                           .order_by(model.label)).all()


def create():
    def add(model):
        with Session(engine) as session:
            row = model(**values(model, 100, "create it's \\ é"))
            session.add(row)
            session.commit()
            row.amount += 1
            session.commit()
            yield row
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(model.__table__.insert().values(**values(model, 101, "create 2")))
            yield from stored(session, model, "create")
    each(add)


def bulk():
    def add_all(model):
        with Session(engine) as session:
            rows = [model(**values(model, n, f"bulk {n}")) for n in range(200, 220)]
            session.add_all(rows)
            session.commit()
            yield from rows
            session.bulk_save_objects([model(**values(model, n, f"bulk {n}"))
                                       for n in range(220, 230)])
            session.commit()
        with engine.begin() as connection:
            connection.execute(model.__table__.insert(),
                               [values(model, n, f"bulk {n}") for n in range(230, 240)])
            connection.execute(model.__table__.insert().values(
                [values(model, n, f"bulk {n}") for n in range(240, 250)]))
            yield from stored(connection, model, "bulk")
    each(add_all)


def in_transaction():
    def both(model):
        with Session(engine) as session:
            session.add(model(**values(model, 300, "transaction 1")))
            session.flush()
            with session.begin_nested():
                session.add(model(**values(model, 301, "transaction 2")))
            session.commit()
            session.add(model(**values(model, 302, "transaction 3")))
            session.flush()
            session.rollback()
            yield from stored(session, model, "transaction")
    each(both)


def returning():
    def ask(model):
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            table = model.__table__
            yield from connection.execute(insert(table).values(
                [values(model, n, f"returning {n}") for n in (400, 401)]).returning(table))
    each(ask)


def upsert():
    def on_conflict(model):
        table = model.__table__
        key = {"ts": TS} if model is Event else {
            "id": 1000000 if model is Item else "00000000-0000-4000-8000-000000000005"}
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for amount in (500, 501):
                statement = insert(table).values({**values(model, 500, "upsert 1"), **key,
                                                  "amount": amount})
                yield connection.execute(statement.on_conflict_do_update(
                    index_elements=list(table.primary_key.columns),
                    set_={"amount": statement.excluded.amount}).returning(table)).one()
                connection.execute(statement.on_conflict_do_nothing())
        with Session(engine) as session:
            row = session.get(model, (500, TS) if model is Event else key["id"])
            yield session.merge(model(**{**values(model, 500, "upsert 2"), **key}))
            session.commit()
            yield row
    each(on_conflict)


def duplicate():
    def twice(model, **key):
        for number in (1, 2):
            with Session(engine) as session:
                session.add(model(**{**values(model, 600, f"duplicate {number}"), **key}))
                session.commit()
    attempt("items", lambda: twice(Item, id=2000000))
    attempt("documents", lambda: twice(Document, id="00000000-0000-4000-8000-000000000006"))
    attempt("events", lambda: twice(Event, ts=TS))


serve({"create": create, "bulk": bulk, "transaction": in_transaction, "returning": returning,
       "upsert": upsert, "duplicate": duplicate})
