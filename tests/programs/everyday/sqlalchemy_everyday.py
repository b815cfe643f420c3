"""SQLAlchemy's first days: tables made by its metadata, changed by Alembic forth and back and compared by its autogenerate; rows
made, read by their keys, found, counted, cut into pages, joined, locked, changed and deleted; tables reflected."""
import contextlib
import io
import os
import tempfile

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import (BigInteger, CheckConstraint, Column, DateTime, ForeignKey, Index, Integer, MetaData, Numeric, String, Table, Text,
                        and_, case, create_engine, delete, exists, func, insert, inspect, literal, or_, select, text, tuple_, update)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, UUID
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session, aliased, declarative_base, joinedload, relationship, selectinload

URL = "postgresql+psycopg2://{PGUSER}@{PGHOST}:{PGPORT}/{PGDATABASE}".format(**os.environ)
Base = declarative_base()
engine = create_engine(URL)


class Item(Base):
    __tablename__ = "items"
    id = Column(BigInteger, primary_key=True)
    label = Column(String(40), index=True, nullable=False)
    amount = Column(Numeric(10, 2), server_default=text("0"))
    version = Column(Integer, nullable=False)
    __mapper_args__ = {"version_id_col": version}
    __table_args__ = (CheckConstraint("amount >= 0", name="good"),)
    documents = relationship("Document", back_populates="item", cascade="all, delete-orphan", order_by="Document.label")


class Document(Base):
    __tablename__ = "documents"
    id = Column(UUID(as_uuid=True), primary_key=True, server_default=func.gen_random_uuid())
    item_id = Column(ForeignKey("items.id", ondelete="cascade"))
    label = Column(Text, unique=True)
    body = Column(JSONB, server_default=text("'{}'"))
    tags = Column(ARRAY(Text))
    item = relationship(Item, back_populates="documents")


class Event(Base):
    __tablename__ = "events"
    userid = Column(BigInteger, primary_key=True, autoincrement=False)
    ts = Column(DateTime(timezone=True), primary_key=True, server_default=func.now())
    label = Column(Text)
    __table_args__ = (Index("events_label", func.lower(label)),)


SCRIPTS = {"env.py": '''
from alembic import context
import sqlalchemy
with sqlalchemy.create_engine(context.config.get_main_option("sqlalchemy.url")).connect() as connection:
    context.configure(connection=connection)
    with context.begin_transaction():
        context.run_migrations()
''', "versions/1_first.py": '''
from alembic import op
import sqlalchemy as sa
revision, down_revision = "1", None
def upgrade():
    op.add_column("items", sa.Column("note", sa.String(10), server_default="n", nullable=False))
    op.create_index("by_note", "items", ["note", "amount"])
    op.create_table("papers", sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True), sa.Column("label", sa.Text),
                    sa.Column("item_id", sa.BigInteger, sa.ForeignKey("items.id")))
    op.bulk_insert(sa.table("papers", sa.column("label")), [{"label": "a"}, {"label": "b"}])
def downgrade():
    op.drop_table("papers")
    op.drop_index("by_note")
    op.drop_column("items", "note")
''', "versions/2_second.py": '''
from alembic import op
import sqlalchemy as sa
revision, down_revision = "2", "1"
def upgrade():
    op.alter_column("items", "note", new_column_name="remark", type_=sa.Text, nullable=True)
    op.create_unique_constraint("both", "items", ["label", "id"])
    op.create_check_constraint("short", "papers", "length(label) < 10")
    op.execute("update items set remark = 'r' where id > 0")
    op.rename_table("papers", "sheets")
def downgrade():
    op.rename_table("sheets", "papers")
    op.drop_constraint("short", "papers")
    op.drop_constraint("both", "items")
    op.alter_column("items", "remark", new_column_name="note", type_=sa.String(10), nullable=False)
'''}


def attempt(name, work):
    try:
        with Session(engine) as session:
            print(name, work(session))
            session.commit()
    except DBAPIError as failure:
        print(name, type(failure).__name__, failure.orig.pgcode, str(failure.orig).strip())


def rows(connection, statement):
    print([tuple(row) for row in connection.execute(statement)])


def migrate():
    Base.metadata.create_all(engine)
    Base.metadata.create_all(engine)
    Base.metadata.drop_all(engine)
    Base.metadata.create_all(engine)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "versions"))
        for name, script in SCRIPTS.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(script)
        out = io.StringIO()
        config = Config(stdout=out)
        config.set_main_option("script_location", folder)
        config.set_main_option("sqlalchemy.url", URL)
        with engine.begin() as connection:
            connection.execute(insert(Item.__table__).values(label="before", version=1))
        for step in (lambda: command.upgrade(config, "head"), lambda: command.current(config), lambda: command.downgrade(config, "1"),
                     lambda: command.upgrade(config, "+1"), lambda: command.history(config), lambda: command.downgrade(config, "base"),
                     lambda: command.stamp(config, "1"), lambda: command.current(config), lambda: command.stamp(config, "base")):
            step()
            with engine.connect() as connection:
                print([(table, [(it["name"], str(it["type"])) for it in inspect(connection).get_columns(table)])
                       for table in sorted(inspect(connection).get_table_names())])
        print(out.getvalue())
    with engine.connect() as connection:
        print([it for it in compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), Base.metadata)])


def use_items():
    with Session(engine) as session:
        items = [Item(label=f"item {n}", amount=n * 10) for n in range(12)]
        session.add_all(items)
        session.commit()
        keys = [it.id for it in items]
        print(session.get(Item, keys[3]).label, session.query(Item).filter(Item.id.in_(keys[:3])).count())
        items[3].label = "changed"
        session.flush()
        session.refresh(items[3])
        session.expire_all()
        print(items[3].label, items[3].version, items[3].amount)
        print(session.query(Item).filter(Item.amount > 50).update({"amount": Item.amount + 1}, synchronize_session="fetch"))
        print(session.execute(update(Item).where(Item.id == keys[4]).values(amount=5).returning(Item.label, Item.amount)).all())
        session.bulk_update_mappings(Item, [{"id": key, "label": f"bulk {n}", "version": 1} for n, key in enumerate(keys[5:7])])
        session.delete(items[7])
        print(session.execute(delete(Item).where(Item.id == keys[8])).rowcount)
        session.commit()
        for page in range(4):
            print([it.label for it in session.query(Item).order_by(Item.amount.desc(), Item.label).limit(4).offset(4 * page)])
        last = session.query(Item).order_by(Item.amount, Item.id).first()
        rows(session, select(Item.label).where(tuple_(Item.amount, Item.id) > (last.amount, last.id)).order_by(Item.amount, Item.id).limit(3))
        rows(session, select(func.count(), func.sum(Item.amount), func.min(Item.label), func.array_agg(Item.label).filter(Item.amount < 20)))
        rows(session, select(Item.label, case((Item.amount > 40, "much"), else_="little"), func.row_number().over(order_by=Item.label))
             .where(or_(Item.label.like("item%"), and_(Item.amount.between(1, 20), Item.label != literal("x")))).order_by(Item.label))
        print(session.query(Item).with_for_update().filter_by(id=keys[0]).one().label, session.query(exists().where(Item.id == keys[0])).scalar())
        print(len(session.query(Item).with_for_update(skip_locked=True, of=Item).all()), session.query(Item.amount).distinct().count())
        session.rollback()
        print(len(list(session.query(Item).order_by(Item.id).yield_per(3))), session.query(Item).get(-1))
        session.execute(text("update items set version = 7 where id = :id"), {"id": keys[0]})
        items[0].label = "stale"
        try:
            session.flush()
        except Exception as failure:
            print(type(failure).__name__, failure)
        session.rollback()


def use_relations():
    with Session(engine) as session:
        one = session.query(Item).order_by(Item.id).first()
        one.documents = [Document(label=f"document {n}", body={"n": n}, tags=["a", f"b{n}"]) for n in range(4)]
        session.commit()
        print([it.label for it in one.documents], session.get(Document, one.documents[1].id).body)
        print([(it.label, it.item.label) for it in session.query(Document).options(joinedload(Document.item)).order_by(Document.label)])
        print([(it.label, len(it.documents)) for it in session.query(Item).options(selectinload(Item.documents)).order_by(Item.label)])
        rows(session, select(Item.label, func.count(Document.id)).outerjoin(Document).group_by(Item.id).having(func.count(Document.id) > 0))
        rows(session, select(Document.label).where(Document.body["n"].as_integer() > 1, Document.tags.any("b2")))
        both = aliased(Document)
        rows(session, select(Document.label, both.label).join(both, Document.item_id == both.item_id).where(Document.label < both.label)
             .order_by(Document.label, both.label))
        some = select(Item.id).where(Item.label == one.label).cte("some")
        rows(session, select(Document.label).join(some, some.c.id == Document.item_id).order_by(Document.label))
        rows(session, select(Item.label).union_all(select(Document.label)).order_by("label").limit(4))
        rows(session, insert(Document).from_select(["label"], select(func.concat("copy of ", Item.label)).where(Item.label.like("item 1%")))
             .returning(Document.label))
        del one.documents[0]
        session.commit()
        session.delete(one)
        session.commit()
        rows(session, select(Document.label, Document.item_id).order_by(Document.label))
    attempt("twice", lambda session: session.add_all([Document(label="d"), Document(label="d")]))
    attempt("nothing", lambda session: session.add(Document(label="e", item_id=10**9)))
    attempt("too little", lambda session: session.add(Item(label="e", amount=-1)))


def use_events():
    with Session(engine) as session:
        session.add_all([Event(userid=n, label=f"event {n}") for n in range(6)])
        session.commit()
        one = session.query(Event).filter_by(userid=2).one()
        key = (one.userid, one.ts)
        one.label = "changed"
        session.commit()
        print(session.get(Event, key).label, session.query(Event).filter(tuple_(Event.userid, Event.ts).in_([key])).count())
        one.userid = 100
        session.commit()
        print(session.get(Event, (100, key[1])).label, session.query(Event).filter_by(userid=2).count())
        rows(session, delete(Event).where(Event.userid == 100, Event.ts == key[1]).returning(Event.userid, Event.label))
        print(session.merge(Event(userid=3, ts=key[1], label="merged")).label)
        session.rollback()
        print(session.query(Event).count())


def use_transactions():
    with Session(engine) as session, session.begin():
        session.add(Item(label="kept"))
        for label in ("lost", "kept too"):
            with session.begin_nested() as mark:
                session.add(Item(label=label))
                session.flush()
                if label == "lost":
                    mark.rollback()
        try:
            with session.begin_nested():
                session.execute(insert(Item.__table__).values(id=select(func.min(Item.id)).scalar_subquery(), label="twice", version=1))
        except DBAPIError as failure:
            print(str(failure.orig).strip())
    with engine.connect().execution_options(isolation_level="SERIALIZABLE") as connection:
        rows(connection, select(Item.label).where(Item.label.regexp_match("kept|lost")).order_by(Item.label))
        connection.execute(Item.__table__.insert(), [{"label": "many", "version": 1}] * 3)
        rows(connection, text("select count(*) from items where label = 'many'"))


def reflect():
    metadata = MetaData()
    items = Table("items", metadata, autoload_with=engine)
    print([(column.name, str(column.type), column.primary_key, column.server_default and column.server_default.arg.text) for column in items.c])
    with contextlib.closing(engine.connect()) as connection:
        rows(connection, select(items.c.label).where(items.c.id == 2))
        print(inspect(connection).get_pk_constraint("events"), inspect(connection).get_indexes("events"))
    metadata.reflect(engine)
    metadata.tables["documents"].drop(engine)
    print(sorted(inspect(engine).get_table_names()))


for step in (migrate, use_items, use_relations, use_events, use_transactions, reflect):
    print("---", step.__name__)
    step()
