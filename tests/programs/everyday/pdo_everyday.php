<?php
// PDO's and pg_*'s first days: tables made, rows made, read by their keys, found, counted, cut into pages, changed and deleted.
$place = ["host" => getenv("PGHOST"), "port" => getenv("PGPORT"), "dbname" => getenv("PGDATABASE")];
$db = new PDO("pgsql:" . http_build_query($place, "", ";"), getenv("PGUSER"), null,
    [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);

function show(...$all): void
{
    echo json_encode($all, JSON_UNESCAPED_UNICODE), "\n";
}

function attempt(string $name, callable $work): void
{
    try {
        show($name, $work());
    } catch (PDOException $failure) {
        show($name, $failure->getMessage());
    }
}

$db->exec("CREATE TABLE items (id serial PRIMARY KEY, label varchar(40) NOT NULL, amount numeric(10,2) DEFAULT 0, made timestamptz DEFAULT now())");
show($db->exec("CREATE TABLE tags (name text PRIMARY KEY);"
    . " CREATE TABLE events (userid bigint, ts timestamptz DEFAULT now(), label text, PRIMARY KEY (userid, ts))"));
attempt("again", fn() => $db->exec("CREATE TABLE items (id serial PRIMARY KEY)"));
show($db->exec("CREATE TABLE IF NOT EXISTS items (id serial PRIMARY KEY)"));

show($db->exec("INSERT INTO items (label) VALUES ('a')"), $db->lastInsertId(), $db->lastInsertId("items_id_seq"));
$insert = $db->prepare("INSERT INTO items (label, amount) VALUES (:label, :amount)");
foreach (range(1, 7) as $n) {
    $insert->execute(["label" => "item $n", "amount" => $n * 10]);
    show($db->lastInsertId(), $insert->rowCount());
}
$find = $db->prepare("SELECT * FROM items WHERE id = ?");
$find->execute([3]);
show(array_diff_key($find->fetch(), ["made" => 0]), $find->columnCount(), $find->getColumnMeta(0)["name"]);
$update = $db->prepare("UPDATE items SET amount = amount + ? WHERE id IN (?, ?)");
$update->execute([1, 2, 3]);
$page = $db->prepare("SELECT id, label FROM items ORDER BY id LIMIT :limit OFFSET :offset");
$page->bindValue("limit", 2, PDO::PARAM_INT);
$page->bindValue("offset", 2, PDO::PARAM_INT);
$page->execute();
show($update->rowCount(), $page->fetchAll(PDO::FETCH_KEY_PAIR), $db->query("SELECT count(*), sum(amount) FROM items")->fetch(PDO::FETCH_NUM));
show($db->query("DELETE FROM items WHERE id = 2 RETURNING label")->fetchColumn(), $db->exec("DELETE FROM items WHERE amount > 60"));

$db->beginTransaction();
$db->exec("INSERT INTO items (label) VALUES ('lost')");
$db->exec("SAVEPOINT here");
attempt("twice", fn() => $db->exec("INSERT INTO items (id, label) VALUES (1, 'twice')"));
$db->exec("ROLLBACK TO here");
show($db->inTransaction(), $db->rollBack());
attempt("null", fn() => $db->exec("INSERT INTO items (label) VALUES (NULL)"));
$db->beginTransaction();
$scroll = $db->prepare("SELECT id FROM items ORDER BY id", [PDO::ATTR_CURSOR => PDO::CURSOR_SCROLL]);
$scroll->execute();
show($scroll->fetchColumn(), $scroll->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_LAST), $db->commit());
show(array_map(fn($line) => substr($line, 0, 9), $db->pgsqlCopyToArray("items")));
foreach ([["ann", 1], ["ann", 2]] as $row) {
    $db->prepare("INSERT INTO events (userid, label) VALUES (?, ?)")->execute([$row[1], $row[0]]);
}
$key = $db->query("SELECT userid, ts FROM events WHERE userid = 2")->fetch(PDO::FETCH_NUM);
$event = $db->prepare("SELECT label FROM events WHERE userid = ? AND ts = ?");
$event->execute($key);
show($event->fetchColumn(), $db->query("SELECT table_name, column_name, data_type FROM information_schema.columns"
    . " WHERE table_schema = 'public' ORDER BY 1, ordinal_position")->fetchAll(PDO::FETCH_NUM));

$place["user"] = getenv("PGUSER");
$link = pg_connect(http_build_query($place, "", " "));
show(array_keys(pg_meta_data($link, "items")), pg_insert($link, "items", ["label" => "pg", "amount" => 1]) !== false,
    count(pg_select($link, "items", ["label" => "pg"])), pg_update($link, "items", ["amount" => 2], ["label" => "pg"]),
    pg_delete($link, "items", ["label" => "pg"]), pg_fetch_all(pg_query_params($link, "select label from items where id = $1", [1])),
    pg_field_table(pg_query($link, "select * from items"), 0));
