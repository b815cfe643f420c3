"""programs: the real programs that write through keyspread, and what must be there to run them."""
import glob
import os

HERE = os.path.dirname(os.path.abspath(__file__))


class Program:
    """`needs`: a file of each of its packages, by the package's name."""

    def __init__(self, name, *command, **needs):
        self.name = name
        self.command = list(command[:-1]) + [os.path.join(HERE, command[-1])]
        self.needs = needs

    def missing(self):
        """The first package that is not there."""
        return next((package.replace("_", "-") for package, file in self.needs.items()
                     if not glob.glob(file)), None)


PYTHON = "/usr/lib/python3/dist-packages/"
PROGRAMS = (
    Program("Django 3.2", "/usr/bin/python3", "django_models.py",
            python3_django=PYTHON + "django", python3_psycopg2=PYTHON + "psycopg2"),
    Program("SQLAlchemy 1.4", "/usr/bin/python3", "sqlalchemy_orm.py",
            python3_sqlalchemy=PYTHON + "sqlalchemy", python3_psycopg2=PYTHON + "psycopg2"),
)
