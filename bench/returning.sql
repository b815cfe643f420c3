insert into items (v) values ('x') returning id;
