// pgjdbc: batches, generated keys, and batches that the driver joins (reWriteBatchedInserts).
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

public class Jdbc {
    static final List<String> TABLES = List.of("items", "documents", "events");
    static final Map<String, String> KEYS =
        Map.of("items", "id", "documents", "id", "events", "userid, ts");

    interface Step {
        String run(String table) throws SQLException;
    }

    static Connection connect(String options) throws SQLException {
        Map<String, String> env = System.getenv();
        return DriverManager.getConnection("jdbc:postgresql://" + env.get("PGHOST") + ":"
            + env.get("PGPORT") + "/" + env.get("PGDATABASE") + "?sslmode=disable" + options,
            env.get("PGUSER"), null);
    }

    static String insert(String table) {
        return table.equals("events") ? "INSERT INTO events (label, amount, userid) VALUES (?, ?, ?)"
            : "INSERT INTO " + table + " (label, amount) VALUES (?, ?)";
    }

    // One with a key of its own.
    static String keyed(String table, int number) {
        String key = table.equals("items") ? String.valueOf(1000000 + number)
            : table.equals("documents") ? "'00000000-0000-4000-8000-000000000" + number + "'"
            : number + ", '2026-01-02 03:04:05.678901+00'";
        return "INSERT INTO " + table + " (label, amount, " + KEYS.get(table) + ") VALUES (?, ?, " + key
            + ")";
    }

    static void bind(PreparedStatement statement, String table, int number, String label)
        throws SQLException {
        statement.setString(1, label);
        statement.setInt(2, number);
        if (table.equals("events"))
            statement.setLong(3, number);
    }

    static String all(ResultSet rows, String table) throws SQLException {
        StringBuilder text = new StringBuilder();
        while (rows.next()) {
            text.append(table.equals("events")
                ? "userid=" + rows.getLong("userid") + " " + rows.getTimestamp("ts")
                : "id=" + rows.getString("id"));
            text.append(" ").append(rows.getString("label")).append(" ").append(rows.getInt("amount"))
                .append(", ");
        }
        return text.toString();
    }

    static String find(Connection connection, String table, String label) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "SELECT * FROM " + table + " WHERE label LIKE ? ORDER BY label, amount")) {
            statement.setString(1, label + "%");
            return all(statement.executeQuery(), table);
        }
    }

    static String create(Connection connection, String table) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(insert(table))) {
            for (int number = 100; number < 108; number++) { // the sixth is prepared in the server
                bind(statement, table, number, "create it's \\ é " + number);
                statement.executeUpdate();
            }
        }
        return find(connection, table, "create");
    }


    static String batch(Connection connection, String table, int from, int to) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(insert(table))) {
            for (int number = from; number < to; number++) {
                bind(statement, table, number, "bulk " + number);
                statement.addBatch();
            }
            List<String> counts = new ArrayList<>();
            for (int count : statement.executeBatch())
                counts.add(String.valueOf(count));
            return String.join(" ", counts);
        }
    }

    // The driver makes three statements of each hundred.
    static String joined(Connection connection, String table) throws SQLException {
        StringBuilder counts = new StringBuilder();
        for (int from = 1000; from < 1500; from += 100)
            counts.append(batch(connection, table, from, from + 100)).append(" ");
        return counts + find(connection, table, "bulk 1");
    }

    static String transaction(Connection connection, String table) throws SQLException {
        connection.setAutoCommit(false);
        try (PreparedStatement statement = connection.prepareStatement(insert(table))) {
            bind(statement, table, 300, "transaction 1");
            statement.executeUpdate();
            connection.commit();
            bind(statement, table, 301, "transaction 2");
            statement.executeUpdate();
            connection.rollback();
        } catch (SQLException failure) {
            connection.rollback();
            throw failure;
        } finally {
            connection.setAutoCommit(true);
        }
        return find(connection, table, "transaction");
    }

    static String returning(Connection connection, String table) throws SQLException {
        StringBuilder text = new StringBuilder();
        try (PreparedStatement statement = connection.prepareStatement(
                insert(table), Statement.RETURN_GENERATED_KEYS)) {
            bind(statement, table, 400, "returning 1");
            statement.executeUpdate();
            text.append(all(statement.getGeneratedKeys(), table));
            for (int number = 401; number < 404; number++) {
                bind(statement, table, number, "returning of a batch");
                statement.addBatch();
            }
            statement.executeBatch();
            text.append(all(statement.getGeneratedKeys(), table));
        }
        try (PreparedStatement statement = connection.prepareStatement(
                insert(table), KEYS.get(table).split(", "))) {
            bind(statement, table, 404, "returning 2");
            statement.executeUpdate();
            ResultSet keys = statement.getGeneratedKeys();
            text.append(keys.next()).append(keys.getMetaData().getColumnCount());
        }
        return text.toString();
    }

    static String upsert(Connection connection, String table) throws SQLException {
        for (int amount = 1; amount < 3; amount++)
            try (PreparedStatement statement = connection.prepareStatement(keyed(table, 500)
                    + " ON CONFLICT (" + KEYS.get(table) + ") DO UPDATE SET amount = EXCLUDED.amount")) {
                statement.setString(1, "upsert");
                statement.setInt(2, amount);
                statement.executeUpdate();
            }
        return find(connection, table, "upsert");
    }

    static String duplicate(Connection connection, String table) throws SQLException {
        for (int number = 0; number < 2; number++)
            try (PreparedStatement statement = connection.prepareStatement(keyed(table, 600))) {
                statement.setString(1, "duplicate");
                statement.setNull(2, Types.INTEGER);
                statement.executeUpdate();
            }
        return "";
    }

    static void attempt(String table, Step step) {
        try {
            System.out.println(table + ": " + step.run(table));
        } catch (SQLException failure) {
            System.out.println(("! " + table + ": " + failure.getSQLState() + " " + failure.getMessage())
                .replace("\n", " "));
        }
    }

    public static void main(String[] arguments) throws Exception {
        Connection plain = connect("");
        Connection joined = connect("&reWriteBatchedInserts=true");
        Map<String, Step> steps = Map.of(
            "create", table -> create(plain, table),
            "bulk", table -> batch(plain, table, 200, 220) + joined(joined, table),
            "transaction", table -> transaction(plain, table),
            "returning", table -> returning(plain, table),
            "upsert", table -> upsert(plain, table),
            "duplicate", table -> duplicate(plain, table));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            if (!steps.containsKey(line))
                System.out.println("-");
            for (String table : steps.containsKey(line) ? TABLES : List.<String>of())
                attempt(table, steps.get(line));
            System.out.println(".");
            System.out.flush();
        }
    }
}
