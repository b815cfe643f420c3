\set userid :base + random(1, :rows)
\set userhash hash(:userid)
select event from events where userhash = :userhash and userid = :userid;
