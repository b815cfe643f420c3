"""What PowerDNS 4.7 says to a database when zones are made, filled, replaced, read and deleted: statements prepared by names, between
Queries that begin and commit, with the tables as PowerDNS has them."""
import psycopg

ROW = ("insert into records (content,ttl,prio,type,domain_id,disabled,name,ordername,auth)"
       " values (%s,%s,%s,%s,%s,%s,%s,%s,%s)")
TABLES = """create table domains (id serial primary key, name varchar(255) not null, master varchar(128) default null,
  last_check int default null, type text not null, notified_serial bigint default null, account varchar(40) default null,
  constraint c_lowercase_name check (((name)::text = lower((name)::text))));
create unique index name_index on domains(name);
create table records (id bigserial primary key, domain_id int default null, name varchar(255) default null, type varchar(10) default null,
  content varchar(65535) default null, ttl int default null, prio int default null, disabled bool default 'f',
  ordername varchar(255), auth bool default 't', constraint domain_exists foreign key(domain_id) references domains(id) on delete cascade,
  constraint c_lowercase_name check (((name)::text = lower((name)::text))));
create index rec_name_index on records(name);
create index nametype_index on records(name,type);
create index domain_id on records(domain_id);
create index recordorder on records (domain_id, ordername text_pattern_ops);
create table domainmetadata (id serial primary key, domain_id int references domains(id) on delete cascade, kind varchar(32), content text);
create index domainidmetaindex on domainmetadata(domain_id);
create table cryptokeys (id serial primary key, domain_id int references domains(id) on delete cascade, flags int not null, active bool,
  published bool default true, content text)"""
connection = psycopg.connect("", autocommit=True)


def run(text, *values, show=True):
    """Each text is prepared by a name. Numbers of the sequences are not shown."""
    try:
        cursor = connection.execute(text, values, prepare=bool(values))
        rows = cursor.fetchall() if cursor.description else []
        print(text.split(" (")[0], cursor.statusmessage, rows if show else "", flush=True)
        return rows
    except psycopg.Error as error:
        print("Error", error.sqlstate, error.diag.message_primary, error.diag.constraint_name, flush=True)
        return []


def zone(name):
    run("begin")
    run("insert into domains (type,name,master,account,last_check, notified_serial) values(%s,%s,%s,%s, null, null)", "NATIVE", name, "", "")
    run("commit")
    [(number,)] = run("select id from domains where name=%s", name, show=False)
    return number


def fill(number, name, records):
    run("begin")
    for kind, content, ttl in records:
        run(ROW, content, ttl, 0, kind, number, False, name, None, True)
    run("commit")


def refused(number, name):
    """One row, whose error may come with COMMIT: the first error is shown."""
    try:
        connection.execute("begin")
        connection.execute(ROW, ("10.0.0.9", 60, 0, "A", number, False, name, None, True), prepare=True)
        connection.execute("commit")
    except psycopg.Error as error:
        print("Error", error.sqlstate, error.diag.message_primary, error.diag.constraint_name, flush=True)
    connection.execute("rollback")


def replace(number, name, kind, contents):
    run("begin")
    run("delete from records where domain_id=%s and name=%s and type=%s", number, name, kind)
    for content in contents:
        run(ROW, content, 300, 0, kind, number, False, name, None, True)
    run("commit")


for table in TABLES.split(";"):
    run(table.strip())
zones = {name: zone(name) for name in ("example.org", "example.com", "1.168.192.in-addr.arpa")}
for name, number in zones.items():
    fill(number, name, [("SOA", f"ns1.{name} hostmaster.{name} 1 10800 3600 604800 3600", 3600), ("NS", f"ns1.{name}", 3600)])
    for host in range(20):
        fill(number, f"host{host}.{name}", [("A", f"192.168.1.{host}", 300), ("TXT", '"it\'s a host"', 300)])
    replace(number, f"host3.{name}", "A", ["10.0.0.1", "10.0.0.2"])
    run("begin")
    run("delete from domainmetadata where domain_id=(select id from domains where name=%s) and domainmetadata.kind=%s", name, "SOA-EDIT")
    run("insert into domainmetadata (domain_id, kind, content) select id, %s, %s from domains where name=%s", "SOA-EDIT", "INCEPTION-INCREMENT", name)
    run("commit")
refused(zones["example.org"], "Upper.example.org")
refused(0, "nowhere.example.org")
run("begin")
run(ROW, "10.0.0.7", 60, 0, "A", zones["example.com"], False, "forgotten.example.com", None, True)
run("rollback")
for name in ("host3.example.org", "forgotten.example.com", "nowhere.example.org", "upper.example.org"):
    run("select content,ttl,prio,type,disabled::int,name,auth::int from records where disabled=false and name=%s order by content", name)
run("select count(*), count(distinct domain_id) from records")
run("select d.name, m.kind, m.content from domainmetadata m join domains d on d.id = m.domain_id order by 1")
run("begin")
run("delete from records where domain_id=%s", zones["example.com"])
run("delete from domains where name=%s", "example.com")
run("commit")
run("select name, type from domains order by name")
run("select count(*) from records")
