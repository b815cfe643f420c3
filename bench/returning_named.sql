insert into items (id, v) values (nextval('items_id_seq'), 'x') returning id;
