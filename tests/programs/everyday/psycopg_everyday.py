"""psycopg 2 and 3 in their default mode: each transaction is begun by the driver and ended by commit(), rollback() or a context."""
import psycopg
import psycopg2
import psycopg2.extras

INSERT = "insert into items (id, label, amount) values (%s, %s, %s)"


def say(*words):
    print(*words, flush=True)


def rows(connection):
    with connection.cursor() as cursor:
        cursor.execute("select id, label, amount from items order by id")
        found = cursor.fetchall()
    connection.commit()
    return found


def fails(connection, name, statements):
    """Where the error comes is told in lazy, so nothing is printed in front of it."""
    try:
        with connection.cursor() as cursor:
            for text, values in statements:
                cursor.execute(text, values)
        connection.commit()
        say(name, "committed")
    except Exception as error:  # pylint: disable=broad-except
        connection.rollback()
        say(name, type(error).__name__, error.diag.message_primary, error.diag.constraint_name)


def transactions(connection, first):
    with connection.cursor() as cursor:
        for number in range(first, first + 5):
            cursor.execute(INSERT, (number, f"it's {number}", number * 10))
            say("inserted", cursor.rowcount)
    connection.commit()
    with connection.cursor() as cursor:
        cursor.execute(INSERT, (first + 5, "lost", 0))
    connection.rollback()
    with connection.cursor() as cursor:
        cursor.executemany(INSERT, [(first + number, "many", None) for number in range(10, 15)])
        cursor.execute("select count(*) from items where label = 'many'")
        say("counted", cursor.fetchone())
        cursor.execute("update items set amount = 7 where label = 'many'")
        say("updated", cursor.rowcount)
    connection.commit()
    fails(connection, "duplicate", [(INSERT, (first + 20, "new", 1)), (INSERT, (first, "old", 1))])
    fails(connection, "check", [(INSERT, (first + 20, "new", 1)), (INSERT, (first + 21, "small", -1))])
    fails(connection, "type", [(INSERT, ("first", "word", 1))])
    fails(connection, "none", [(INSERT, (first + 22, "last", 1))])
    with connection.cursor() as cursor:
        cursor.execute(INSERT, (first + 30, "outer", 1))
        cursor.execute("savepoint s")
        cursor.execute(INSERT, (first + 31, "inner", 1))
        cursor.execute("rollback to savepoint s")
        cursor.execute(INSERT, (first + 32, "behind", 1))
    connection.commit()
    say(rows(connection))


def contexts(first):
    with psycopg.connect("") as connection:
        with connection.transaction():
            connection.execute(INSERT, (first, "block", 1))
            try:
                with connection.transaction():
                    connection.execute(INSERT, (first, "block", 1))
                    connection.execute("select 1")  # An error of a row that is kept comes here, before RELEASE.
            except psycopg.Error as error:
                say("nested", type(error).__name__)
        with connection.pipeline():
            for number in range(3):
                connection.execute(INSERT, (first + 1 + number, "pipeline", 1))
        say(rows(connection))


one = psycopg2.connect("")
one.autocommit = True
with one.cursor() as made:
    made.execute("create table items (id bigint primary key, label text not null, amount int constraint small check (amount >= 0))")
one.autocommit = False
transactions(one, 1000)
with one, one.cursor() as several:
    psycopg2.extras.execute_values(several, "insert into items (id, label, amount) values %s", [(2000 + n, "values", n) for n in range(4)])
    psycopg2.extras.execute_batch(several, INSERT, [(2010 + n, "batch", n) for n in range(4)])
say(rows(one))
one.close()
with psycopg.connect("") as other:
    transactions(other, 3000)
contexts(4000)
