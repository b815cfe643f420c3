<?php
// PHP's PDO: prepared statements in the server and emulated ones, and lastInsertId().
const KEYS = ["items" => "id", "documents" => "id", "events" => "userid, ts"];

$options = [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC];
$dsn = sprintf("pgsql:host=%s;port=%s;dbname=%s", getenv("PGHOST"), getenv("PGPORT"), getenv("PGDATABASE"));
$prepared = new PDO($dsn, getenv("PGUSER"), null, $options);
$emulated = new PDO($dsn, getenv("PGUSER"), null, [PDO::ATTR_EMULATE_PREPARES => true] + $options);

/** A new row, without the key that the database makes. */
function values(string $table, int $number, string $label): array
{
    return ["label" => $label, "amount" => $number] + ($table === "events" ? ["userid" => $number] : []);
}

/** A row with a key of its own. */
function keyed(string $table, int $number, string $label): array
{
    $keys = ["items" => ["id" => 1000000 + $number],
        "documents" => ["id" => "00000000-0000-4000-8000-000000000$number"],
        "events" => ["ts" => "2026-01-02 03:04:05.678901+00"]];
    return values($table, $number, $label) + $keys[$table];
}

function shown(array $row): string
{
    $key = isset($row["ts"]) ? "userid=$row[userid] $row[ts]" : "id=$row[id]";
    return "$key " . json_encode($row["label"]) . " $row[amount]";
}

function all(array $rows): string
{
    return implode(", ", array_map("shown", $rows));
}

/** Inserts rows with one statement. */
function insert(PDO $pdo, string $table, array $rows, string $tail = ""): PDOStatement
{
    $cells = "(" . implode(", ", array_fill(0, count($rows[0]), "?")) . ")";
    $statement = $pdo->prepare("INSERT INTO $table (" . implode(", ", array_keys($rows[0])) . ") VALUES "
        . implode(", ", array_fill(0, count($rows), $cells)) . " $tail");
    $statement->execute(array_merge(...array_map("array_values", $rows)));
    return $statement;
}

function find(PDO $pdo, string $table, string $label): string
{
    $statement = $pdo->prepare("SELECT * FROM $table WHERE label LIKE ? ORDER BY label, amount");
    $statement->execute(["$label%"]);
    return all($statement->fetchAll());
}

function many(string $table, int $from, int $to, string $label): array
{
    return array_map(fn($number) => values($table, $number, "$label $number"), range($from, $to - 1));
}

$steps = [
    "create" => function (string $table) use ($prepared, $emulated) {
        insert($prepared, $table, [values($table, 100, "create it's \\ é")]);
        $last = $table === "items" ? "id=" . $prepared->lastInsertId() : "";
        insert($emulated, $table, [values($table, 101, "create 2")]);
        $statement = $prepared->prepare("INSERT INTO $table (label, amount" . ($table === "events" ?
            ", userid) VALUES (:label, :amount, :userid)" : ") VALUES (:label, :amount)"));
        foreach (range(102, 105) as $number) {
            $statement->execute(values($table, $number, "create $number"));
        }
        return "$last " . find($prepared, $table, "create");
    },
    "bulk" => function (string $table) use ($prepared, $emulated) {
        $sent = insert($prepared, $table, many($table, 200, 220, "bulk"))->rowCount();
        $sent += insert($emulated, $table, many($table, 220, 240, "bulk"))->rowCount();
        return "$sent " . find($prepared, $table, "bulk");
    },
    "transaction" => function (string $table) use ($prepared) {
        foreach (["commit", "rollBack"] as $end) {
            $prepared->beginTransaction();
            try {
                insert($prepared, $table, [values($table, 300, "transaction $end")]);
            } catch (PDOException $failure) {
                $prepared->rollBack();
                throw $failure;
            }
            $prepared->$end();
        }
        return find($prepared, $table, "transaction");
    },
    "returning" => function (string $table) use ($prepared, $emulated) {
        return all(array_merge(
            insert($prepared, $table, many($table, 400, 402, "returning"), "RETURNING *")->fetchAll(),
            insert($emulated, $table, many($table, 402, 403, "returning"), "RETURNING *")->fetchAll()));
    },
    "upsert" => function (string $table) use ($prepared) {
        foreach ([1, 2] as $amount) {
            insert($prepared, $table, [["amount" => $amount] + keyed($table, 500, "upsert")],
                "ON CONFLICT (" . KEYS[$table] . ") DO UPDATE SET amount = EXCLUDED.amount");
        }
        insert($prepared, $table, [keyed($table, 500, "upsert")], "ON CONFLICT DO NOTHING");
        return find($prepared, $table, "upsert");
    },
    "duplicate" => function (string $table) use ($prepared) {
        insert($prepared, $table, [keyed($table, 600, "duplicate")]);
        insert($prepared, $table, [keyed($table, 600, "duplicate")]);
        return "";
    },
];

while (($line = fgets(STDIN)) !== false) {
    $step = $steps[trim($line)] ?? null;
    echo $step ? "" : "-\n";
    foreach ($step ? array_keys(KEYS) : [] as $table) {
        try {
            echo "$table: ", $step($table), "\n";
        } catch (PDOException $failure) {
            echo "! $table: ", strtr($failure->getMessage(), "\n", " "), "\n";
        }
    }
    echo ".\n";
}
