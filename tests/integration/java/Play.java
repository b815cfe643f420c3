// Plays steps with pgjdbc, a line of standard input each: the text and its values' types and texts,
// apart by tabs. Prints what was seen, a line a step, its parts apart by tabs. Arguments: options of
// the URL, host, port, user, database.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.postgresql.util.PGobject;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

public class Play {
    static final Map<String, Integer> NULLS = Map.ofEntries(
        Map.entry("bool", Types.BOOLEAN), Map.entry("int2", Types.SMALLINT),
        Map.entry("int4", Types.INTEGER), Map.entry("int8", Types.BIGINT),
        Map.entry("float4", Types.REAL), Map.entry("float8", Types.DOUBLE),
        Map.entry("numeric", Types.NUMERIC), Map.entry("text", Types.VARCHAR),
        Map.entry("bytea", Types.BINARY), Map.entry("date", Types.DATE),
        Map.entry("time", Types.TIME), Map.entry("timestamp", Types.TIMESTAMP),
        Map.entry("timestamptz", Types.TIMESTAMP_WITH_TIMEZONE));

    static byte[] bytes(String hex) {
        byte[] result = new byte[hex.length() / 2];
        for (int i = 0; i < result.length; i++)
            result[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        return result;
    }

    // Of JSON's lists: strings without commas, numbers, null.
    static Object[] list(String text) {
        String inside = text.substring(1, text.length() - 1).trim();
        Object[] parts = inside.isEmpty() ? new Object[0] : inside.split(", *");
        for (int i = 0; i < parts.length; i++) {
            String part = (String) parts[i];
            parts[i] = part.equals("null") ? null : part.startsWith("\"")
                ? part.substring(1, part.length() - 1).replaceAll("\\\\(.)", "$1") : part;
        }
        return parts;
    }

    static PGobject object(String kind, String text) throws SQLException {
        PGobject made = new PGobject();
        made.setType(kind);
        made.setValue(text);
        return made;
    }

    // What getObject() makes of it.
    static String told(Object value) throws SQLException {
        if (value == null)
            return "null";
        if (value instanceof Array)
            return ((Array) value).getBaseTypeName() + " of " + ((Array) value).getBaseType() + " "
                + Arrays.deepToString((Object[]) ((Array) value).getArray());
        return value.getClass().getSimpleName()
            + (value instanceof PGobject ? " " + ((PGobject) value).getType() : "");
    }

    static void set(PreparedStatement to, int at, String kind, String text) throws SQLException {
        if (text.equals("\\N")) {
            to.setNull(at, NULLS.getOrDefault(kind, Types.OTHER));
            return;
        }
        switch (kind) {
            case "bool": to.setBoolean(at, text.equals("true")); break;
            case "int2": to.setShort(at, Short.parseShort(text)); break;
            case "int4": to.setInt(at, Integer.parseInt(text)); break;
            case "int8": to.setLong(at, Long.parseLong(text)); break;
            case "float4": to.setFloat(at, Float.parseFloat(text)); break;
            case "float8": to.setDouble(at, Double.parseDouble(text)); break;
            case "numeric": to.setBigDecimal(at, new BigDecimal(text)); break;
            case "bytea": to.setBytes(at, bytes(text)); break;
            case "uuid": to.setObject(at, UUID.fromString(text)); break;
            case "date": to.setObject(at, LocalDate.parse(text)); break;
            case "time": to.setObject(at, LocalTime.parse(text)); break;
            case "timestamp": to.setObject(at, LocalDateTime.parse(text)); break;
            case "timestamptz": to.setObject(at, OffsetDateTime.parse(text)); break;
            case "interval": to.setObject(at, text + " seconds", Types.OTHER); break;
            case "int4[]": case "int8[]": case "text[]": case "uuid[]":
                to.setArray(at, to.getConnection().createArrayOf(
                    kind.substring(0, kind.length() - 2), list(text)));
                break;
            case "json": to.setObject(at, text, Types.OTHER); break;
            case "jsonb": to.setObject(at, object(kind, text)); break;
            default: to.setString(at, text);
        }
    }

    static void rows(ResultSet result, List<String> seen) throws SQLException {
        ResultSetMetaData columns = result.getMetaData();
        StringBuilder line = new StringBuilder("columns");
        for (int i = 1; i <= columns.getColumnCount(); i++)
            line.append(" ").append(columns.getColumnLabel(i)).append(":")
                .append(columns.getColumnTypeName(i)).append(":")
                .append(columns.getColumnType(i)).append(":").append(columns.getPrecision(i)).append(":").append(columns.getScale(i))
                .append(" table=").append(columns.getTableName(i));
        seen.add(line.toString());
        while (result.next()) {
            line = new StringBuilder("row");
            for (int i = 1; i <= columns.getColumnCount(); i++)
                line.append(" | ").append(columns.getColumnTypeName(i).equals("bytea")
                    ? Arrays.toString(result.getBytes(i)) : result.getString(i))
                    .append(" ").append(told(result.getObject(i)));
            seen.add(line.toString());
        }
    }

    static void warnings(SQLWarning warning, List<String> seen) {
        for (; warning != null; warning = warning.getNextWarning())
            seen.add("notice " + warning.getSQLState() + " " + warning.getMessage());
    }

    static String failure(SQLException error) {
        ServerErrorMessage told = error instanceof PSQLException
            ? ((PSQLException) error).getServerErrorMessage() : null;
        if (told == null)
            return "refused by the client: " + error.getSQLState() + " " + error.getMessage();
        StringBuilder line = new StringBuilder("failed severity='" + told.getSeverity()
            + "' sqlstate='" + told.getSQLState() + "' message='" + told.getMessage() + "'");
        String[] names = {"detail", "hint", "table", "column", "constraint"};
        String[] values = {told.getDetail(), told.getHint(), told.getTable(), told.getColumn(),
            told.getConstraint()};
        for (int i = 0; i < names.length; i++)
            if (values[i] != null)
                line.append(" ").append(names[i]).append("='").append(values[i]).append("'");
        return line.toString();
    }

    static List<String> step(Connection connection, String[] fields) {
        List<String> seen = new ArrayList<>();
        String text = fields[0].replaceAll("\\$\\d+", "?");
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            for (int i = 1; i < fields.length; i += 2)
                set(statement, i / 2 + 1, fields[i], fields[i + 1]);
            boolean more = statement.execute();
            while (more || statement.getUpdateCount() != -1) {
                if (more)
                    rows(statement.getResultSet(), seen);
                else
                    seen.add("updated " + statement.getUpdateCount());
                more = statement.getMoreResults();
            }
            warnings(statement.getWarnings(), seen);
        } catch (SQLException error) {
            seen.add(failure(error));
        }
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        String url = "jdbc:postgresql://" + arguments[1] + ":" + arguments[2] + "/" + arguments[4]
            + "?sslmode=disable&" + arguments[0];
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        try (Connection connection = DriverManager.getConnection(url, arguments[3], "")) {
            for (String line; (line = in.readLine()) != null;)
                out.println(String.join("\t", step(connection, line.split("\t", -1)))
                    .replace("\n", "\\n"));
        }
    }
}
