\set userid :base + random(1, :rows)
select event from events where userid = :userid;
