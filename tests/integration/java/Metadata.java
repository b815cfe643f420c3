// Prints what DatabaseMetaData tells: of a port, with options of the connection, and names of tables.
// A line the names of columns, and one a row, or how it failed.
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;

public class Metadata {
    interface Question {
        ResultSet ask() throws SQLException;
    }

    static void dump(ResultSet result) throws SQLException {
        ResultSetMetaData columns = result.getMetaData();
        StringBuilder head = new StringBuilder(" ");
        for (int i = 1; i <= columns.getColumnCount(); i++)
            head.append(' ').append(columns.getColumnName(i)).append(':').append(columns.getColumnTypeName(i));
        System.out.println(head);
        while (result.next()) {
            StringBuilder row = new StringBuilder("   ");
            for (int i = 1; i <= columns.getColumnCount(); i++)
                row.append(' ').append(result.getString(i)).append(" |");
            System.out.println(row);
        }
    }

    static void tell(String what, Question question) {
        System.out.println(what);
        try {
            dump(question.ask());
        } catch (SQLException e) {
            System.out.println("  failed " + e.getSQLState());
        }
    }

    public static void main(String[] arguments) throws Exception {
        Connection connection = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + arguments[0]
            + "/local?user=app&sslmode=disable&" + arguments[1]);
        DatabaseMetaData data = connection.getMetaData();
        tell("schemas", () -> data.getSchemas());
        tell("schemas like p%", () -> data.getSchemas(null, "p%"));
        tell("columns like it_m_, w%", () -> data.getColumns(null, null, "it_m_", "w%"));
        tell("columns like \\_", () -> data.getColumns(null, "public", "it\\_ms", null));
        for (int i = 2; i < arguments.length; i++) {
            String table = arguments[i];
            for (String schema : new String[] {"public", null}) {
                System.out.println(table + " in " + schema);
                tell("columns", () -> data.getColumns(null, schema, table, "%"));
                tell("primary keys", () -> data.getPrimaryKeys(null, schema, table));
                tell("indexes", () -> data.getIndexInfo(null, schema, table, false, true));
                tell("unique indexes", () -> data.getIndexInfo(null, schema, table, true, false));
                tell("best row identifier",
                     () -> data.getBestRowIdentifier(null, schema, table, DatabaseMetaData.bestRowSession, true));
                tell("imported keys", () -> data.getImportedKeys(null, schema, table));
                tell("exported keys", () -> data.getExportedKeys(null, schema, table));
                tell("cross reference",
                     () -> data.getCrossReference(null, schema, table, null, schema, arguments[2]));
            }
        }
    }
}
