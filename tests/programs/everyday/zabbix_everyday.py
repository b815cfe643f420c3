"""What the server of Zabbix 6.0 says when it writes values of all five types, trends and events: each flush is a transaction of
Queries, with the tables as Zabbix has them."""
import psycopg2

HISTORY = (("history", "double precision not null default '0.0000'", "0.5"), ("history_uint", "numeric(20) not null default '0'", "17"),
           ("history_str", "varchar(255) not null default ''", "'it''s up'"), ("history_text", "text not null default ''", "'a\nlong text'"))
connection = psycopg2.connect("")
connection.autocommit = True
cursor = connection.cursor()


def run(text):
    """A text as it is, and what is told of it."""
    try:
        cursor.execute(text)
        rows = cursor.fetchall() if cursor.description else ""
        print(text.split(" (")[0].split(" values")[0].strip(), cursor.statusmessage, rows, flush=True)
    except psycopg2.Error as error:
        print("Error", error.pgcode, error.diag.message_primary, error.diag.message_detail, flush=True)


for table, value, _ in HISTORY:
    run(f"create table {table} (itemid bigint not null, clock integer default '0' not null, value {value},"
        " ns integer default '0' not null, primary key (itemid, clock, ns))")
run("create table history_log (itemid bigint not null, clock integer default '0' not null, timestamp integer default '0' not null,"
    " source varchar(64) default '' not null, severity integer default '0' not null, value text default '' not null,"
    " logeventid integer default '0' not null, ns integer default '0' not null, primary key (itemid, clock, ns))")
for table, value in (("trends", "double precision"), ("trends_uint", "numeric(20)")):
    run(f"create table {table} (itemid bigint not null, clock integer default '0' not null, num integer default '0' not null,"
        f" value_min {value} default '0' not null, value_avg {value} default '0' not null, value_max {value} default '0' not null,"
        " primary key (itemid, clock))")
run("create table events (eventid bigint not null primary key, source integer default '0' not null, object integer default '0' not null,"
    " objectid bigint default '0' not null, clock integer default '0' not null, value integer default '0' not null,"
    " ns integer default '0' not null, name varchar(2048) default '' not null)")
run("create table ids (table_name varchar(64) default '' not null, field_name varchar(64) default '' not null, nextid bigint not null,"
    " primary key (table_name, field_name))")
run("insert into ids (table_name,field_name,nextid) values ('events','eventid',100)")
for flush in range(8):
    run("begin;")
    for table, _, value in HISTORY:
        values = ",".join(f"({23000 + item},{1700000000 + flush},{item * 1000},{value})" for item in range(10))
        run(f"insert into {table} (itemid,clock,ns,value) values {values};\n")
    run("insert into history_log (itemid,clock,ns,timestamp,source,severity,value,logeventid) values "
        f"(24000,{1700000000 + flush},5,0,'',0,'line {flush}',0);\n")
    run("commit;")
for flush in range(2):
    run("begin;")
    run("select distinct itemid from trends where clock>=1699999200 and itemid between 23000 and 23009")
    for item in range(5):
        run(f"insert into trends (itemid,clock,num,value_min,value_avg,value_max) values ({23000 + item + 5 * flush},1699999200,3,0.1,0.5,0.9);\n")
    run("update trends set num=4,value_min=0.05,value_avg=0.5,value_max=0.9 where itemid=23000 and clock=1699999200")
    run("commit;")
for event in range(5):
    run("begin;")
    run("select nextid from ids where table_name='events' and field_name='eventid'" + " for update" * (event == 0))
    run("update ids set nextid=nextid+1 where table_name='events' and field_name='eventid'")
    run("insert into events (eventid,source,object,objectid,clock,ns,value,name) values "
        f"({101 + event},0,0,{500 + event},1700000000,7,1,'Too many processes on {{HOST.NAME}}');\n")
    run("commit;")
run("begin;")
run("rollback;")
run("select count(*), sum(value) from history_uint")
run("select itemid,value from history_str where itemid=23001 and clock>1700000003 order by clock desc limit 2")
run("select num, value_min from trends order by itemid, clock")
run("delete from history where itemid=23001 and clock<1700000004")
run("select nextid from ids")
run("select count(*), min(name) from events")
