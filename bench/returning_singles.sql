insert into singles (v) values ('x') returning id;
