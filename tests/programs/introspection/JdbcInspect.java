// pgjdbc's DatabaseMetaData.
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeSet;

public class JdbcInspect {
    static void print(String what, ResultSet rows) throws SQLException {
        ResultSetMetaData columns = rows.getMetaData();
        TreeSet<String> lines = new TreeSet<>();
        while (rows.next()) {
            StringBuilder line = new StringBuilder(what);
            for (int i = 1; i <= columns.getColumnCount(); i++)
                line.append(' ').append(columns.getColumnName(i)).append('=').append(rows.getString(i));
            lines.add(line.toString());
        }
        lines.forEach(System.out::println);
    }

    static void table(DatabaseMetaData asks, String table) throws SQLException {
        print("columns", asks.getColumns(null, "public", table, null));
        print("keys", asks.getPrimaryKeys(null, "public", table));
        print("indexes", asks.getIndexInfo(null, "public", table, false, true));
        print("imported", asks.getImportedKeys(null, "public", table));
        print("exported", asks.getExportedKeys(null, "public", table));
        print("identifier", asks.getBestRowIdentifier(null, "public", table, DatabaseMetaData.bestRowSession, true));
        print("rights", asks.getColumnPrivileges(null, "public", table, "%"));
        print("table rights", asks.getTablePrivileges(null, "public", table));
        print("versions", asks.getVersionColumns(null, "public", table));
        print("crossing", asks.getCrossReference(null, "public", "ev", null, "public", table));
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, String> env = System.getenv();
        try (Connection link = DriverManager.getConnection("jdbc:postgresql://" + env.get("PGHOST") + ":"
                + env.get("PGPORT") + "/" + env.get("PGDATABASE") + "?sslmode=disable", env.get("PGUSER"), null)) {
            DatabaseMetaData asks = link.getMetaData();
            print("tables", asks.getTables(null, "public", "%", null));
            print("spread", asks.getTables(null, "public", "%", new String[] {"TABLE", "PARTITIONED TABLE"}));
            print("every column", asks.getColumns(null, null, "%", null));
            print("every right", asks.getTablePrivileges(null, "public", "%"));
            print("types", asks.getUDTs(null, "public", "%", null));
            print("known types", asks.getTypeInfo());
            print("functions", asks.getFunctions(null, "public", "%"));
            print("schemas", asks.getSchemas());
            for (int i = 0; i < 7; i++) // which prepares them at the server as well
                table(asks, i % 2 == 0 ? "ev" : "other");
            ResultSetMetaData columns = link.createStatement().executeQuery("select * from ev").getMetaData();
            for (int i = 1; i <= columns.getColumnCount(); i++)
                System.out.println(columns.getColumnName(i) + " " + columns.getColumnTypeName(i) + " "
                    + columns.isNullable(i) + " " + columns.isAutoIncrement(i));
        }
    }
}
