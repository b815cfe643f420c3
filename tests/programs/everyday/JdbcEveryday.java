// pgjdbc's first days: tables made, rows made, read by their keys, changed through result sets, found by cursors, counted, deleted, in
// transactions with savepoints.
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.Map;
import java.util.UUID;

public class JdbcEveryday {
    interface Work {
        Object run() throws SQLException;
    }

    static Connection link;

    static void attempt(String name, Work work) {
        try {
            System.out.println(name + " " + work.run());
        } catch (SQLException failure) {
            System.out.println(name + " E" + failure.getSQLState() + " " + failure.getMessage());
        }
    }

    static String all(ResultSet rows) throws SQLException {
        ResultSetMetaData columns = rows.getMetaData();
        StringBuilder text = new StringBuilder();
        while (rows.next())
            for (int i = 1; i <= columns.getColumnCount(); i++)
                text.append(columns.getColumnLabel(i)).append('=').append(rows.getString(i)).append(i == columns.getColumnCount() ? "; " : ", ");
        return text.toString();
    }

    static String ask(String text, Object... values) throws SQLException {
        try (PreparedStatement statement = link.prepareStatement(text)) {
            for (int i = 0; i < values.length; i++)
                statement.setObject(i + 1, values[i]);
            return statement.execute() ? all(statement.getResultSet()) : String.valueOf(statement.getUpdateCount());
        }
    }

    static void tables() throws SQLException {
        try (Statement statement = link.createStatement()) {
            statement.addBatch("CREATE TABLE items (id bigserial PRIMARY KEY, label varchar(40) NOT NULL, amount numeric(10,2) DEFAULT 0, tags text[])");
            statement.addBatch("CREATE TABLE events (userid bigint, ts timestamptz DEFAULT now(), label text, PRIMARY KEY (userid, ts))");
            System.out.println(Arrays.toString(statement.executeBatch()));
            statement.execute("CREATE TABLE documents (id uuid DEFAULT gen_random_uuid() PRIMARY KEY, item_id bigint REFERENCES items, label text)");
        }
        attempt("again", () -> ask("CREATE TABLE items (id int)"));
        attempt("alter", () -> ask("ALTER TABLE items ADD COLUMN note text DEFAULT 'n'"));
    }

    static void rows() throws SQLException {
        try (PreparedStatement insert = link.prepareStatement("INSERT INTO items (label, amount, tags) VALUES (?, ?, ?)", new String[] {"id"})) {
            for (int n = 0; n < 9; n++) {
                Array tags = link.createArrayOf("text", new String[] {"a", "b" + n});
                insert.setString(1, "item " + n);
                insert.setBigDecimal(2, new java.math.BigDecimal(n * 10));
                insert.setArray(3, tags);
                insert.executeUpdate();
                ResultSet keys = insert.getGeneratedKeys();
                System.out.println(keys.next() + " " + keys.getLong(1) + " " + keys.getMetaData().getColumnCount());
            }
        }
        for (int n = 1; n < 8; n++) // the fifth is prepared in the server
            System.out.println(ask("SELECT * FROM items WHERE id = ?", (long) n) + ask("UPDATE items SET amount = amount + 1 WHERE id = ?", (long) n));
        attempt("one", () -> ask("DELETE FROM items WHERE id = ? RETURNING label", 1L));
        attempt("none or one", () -> ask("DELETE FROM items WHERE id IN (?, ?)", 1L, 2L));
        attempt("pages", () -> ask("SELECT label FROM items ORDER BY amount DESC, id LIMIT ? OFFSET ?", 3, 2));
        attempt("any", () -> ask("SELECT count(*) FROM items WHERE id = ANY (?)", link.createArrayOf("int8", new Long[] {3L, 4L, 99L})));
        attempt("upsert", () -> ask("INSERT INTO items (id, label) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET label = excluded.label RETURNING *", 3L, "upserted"));
        attempt("null", () -> ask("INSERT INTO items (label) VALUES (?)", (Object) null));
        attempt("several", () -> ask("UPDATE items SET note = 'm' WHERE id = 3; SELECT note FROM items WHERE id = 3"));
        attempt("uuid", () -> ask("INSERT INTO documents (id, item_id, label) VALUES (?, ?, ?)", UUID.fromString("00000000-0000-4000-8000-000000000001"), 3L, "d"));
        attempt("join", () -> ask("SELECT d.label, i.label AS item FROM documents d JOIN items i ON i.id = d.item_id WHERE d.id = ?",
            UUID.fromString("00000000-0000-4000-8000-000000000001")));
        attempt("nothing", () -> ask("INSERT INTO documents (item_id) VALUES (?)", 99L));
        attempt("event", () -> ask("INSERT INTO events (userid, ts, label) VALUES (?, ?, ?)", 5L, OffsetDateTime.parse("2026-01-02T03:04:05.678901Z"), "e"));
        attempt("its key", () -> ask("SELECT label FROM events WHERE userid = ? AND ts = ?", 5L, OffsetDateTime.parse("2026-01-02T03:04:05.678901Z")));
    }

    static void resultSets() throws SQLException {
        try (Statement statement = link.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
            ResultSet rows = statement.executeQuery("SELECT * FROM items WHERE id > 3 ORDER BY id");
            rows.next();
            rows.updateString("label", "through a result set");
            rows.updateRow();
            rows.next();
            rows.deleteRow();
            rows.moveToInsertRow();
            rows.updateString("label", "inserted");
            rows.updateLong("id", 1000);
            rows.insertRow();
            rows.last();
            System.out.println(rows.getString("label") + " " + rows.getConcurrency() + " " + ask("SELECT id, label FROM items ORDER BY id"));
        }
        try (Statement statement = link.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
            ResultSet rows = statement.executeQuery("SELECT userid, ts, label FROM events");
            rows.first();
            rows.updateString(3, "changed");
            rows.updateRow();
            rows.refreshRow();
            System.out.println(rows.getString(3) + " " + rows.isLast());
        }
        link.setAutoCommit(false);
        try (PreparedStatement statement = link.prepareStatement("SELECT * FROM items ORDER BY id")) {
            statement.setFetchSize(3);
            System.out.println(all(statement.executeQuery()));
        }
        link.commit();
    }

    static void transactions() throws SQLException {
        link.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        ask("INSERT INTO items (label) VALUES ('kept')");
        Savepoint here = link.setSavepoint("here");
        attempt("twice", () -> ask("INSERT INTO items (id, label) VALUES (3, 'twice')"));
        link.rollback(here);
        attempt("after it", () -> ask("SELECT count(*) FROM items"));
        link.commit();
        ask("DELETE FROM items WHERE id > 0 AND label = 'kept'");
        link.rollback();
        link.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        link.setReadOnly(true);
        attempt("read only", () -> ask("INSERT INTO items (label) VALUES ('no')"));
        link.rollback();
        link.setReadOnly(false);
        link.setAutoCommit(true);
        attempt("kept", () -> ask("SELECT label FROM items WHERE label = 'kept'"));
        link.setSchema("public");
        attempt("function", () -> {
            ask("CREATE FUNCTION label_of(bigint) RETURNS text LANGUAGE sql AS 'SELECT label FROM items WHERE id = $1'");
            try (var call = link.prepareCall("{? = call label_of(?)}")) {
                call.registerOutParameter(1, java.sql.Types.VARCHAR);
                call.setLong(2, 3);
                call.execute();
                return call.getString(1);
            }
        });
        attempt("valid", () -> link.isValid(5) + " " + link.getCatalog().isEmpty());
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, String> env = System.getenv();
        link = DriverManager.getConnection("jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE")
            + "?sslmode=disable&ApplicationName=days", env.get("PGUSER"), null);
        tables();
        rows();
        resultSets();
        transactions();
        link.close();
    }
}
