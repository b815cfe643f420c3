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


INTEGRATION = os.path.join(os.path.dirname(HERE), "integration")
MODULES = os.path.join(INTEGRATION, "node", "node_modules", "")
JDBC = "/usr/share/java/postgresql.jar"
PYTHON = "/usr/lib/python3/dist-packages/"
PROGRAMS = (
    Program("Django 3.2", "/usr/bin/python3", "django_models.py",
            python3_django=PYTHON + "django", python3_psycopg2=PYTHON + "psycopg2"),
    Program("SQLAlchemy 1.4", "/usr/bin/python3", "sqlalchemy_orm.py",
            python3_sqlalchemy=PYTHON + "sqlalchemy", python3_psycopg2=PYTHON + "psycopg2"),
    Program("node-postgres 8", "node", "pg_pool.js", pg=MODULES + "pg"),
    Program("knex 3", "node", "knex_queries.js", knex=MODULES + "knex"),
    Program("Sequelize 6", "node", "sequelize_models.js", sequelize=MODULES + "sequelize"),
    Program("TypeORM 1", "node", "typeorm_entities.js", typeorm=MODULES + "typeorm"),
    Program("pgjdbc 42.5", "java", "-XX:TieredStopAtLevel=1", "-cp", JDBC, "Jdbc.java", libpostgresql_jdbc_java=JDBC,
            openjdk_17_jdk_headless="/usr/lib/jvm/*/bin/javac"),
    Program("ActiveRecord 6.1", "/usr/bin/ruby", "active_record.rb",
            ruby_activerecord="/usr/share/rubygems-integration/*/specifications/activerecord-*",
            ruby_pg="/usr/lib/ruby/vendor_ruby/pg"),
    Program("Sequel 5", "/usr/bin/ruby", "sequel_datasets.rb", ruby_sequel="/usr/lib/ruby/vendor_ruby/sequel",
            ruby_sequel_pg="/usr/lib/ruby/vendor_ruby/sequel_pg"),
    Program("PHP 8.2 PDO", "/usr/bin/php", "pdo.php", php_cli="/usr/bin/php",
            php_pgsql="/usr/lib/php/*/pdo_pgsql.so"),
    Program("rsyslog 8", "/usr/bin/python3", "rsyslog.py", rsyslog="/usr/local/sbin/rsyslogd",
            rsyslog_pgsql="/usr/local/lib/rsyslog/ompgsql.so", python3_psycopg2=PYTHON + "psycopg2"),
    Program("syslog-ng 3.38", "/usr/bin/python3", "syslog_ng.py",
            syslog_ng_mod_sql="/usr/lib/syslog-ng/*/libafsql.so",
            libdbd_pgsql="/usr/lib/*/dbd/libdbdpgsql.so", python3_psycopg2=PYTHON + "psycopg2"),
    Program("ogr2ogr 3.6", "/usr/bin/python3", "ogr2ogr.py", gdal_bin="/usr/bin/ogr2ogr"),
)
