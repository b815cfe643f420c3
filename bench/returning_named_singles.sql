insert into singles (id, v) values (nextval('singles_id_seq'), 'x') returning id;
