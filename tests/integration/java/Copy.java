// Copies files into tables by pgjdbc's CopyManager. Arguments: the URL, then a COPY statement and a file by turns. Prints of each
// "COPY" and how many rows the server says that it stored, or the fields of its error, a line each; behind each a zero byte.
import java.io.FileInputStream;
import java.io.InputStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

public class Copy {
    static String copied(CopyManager manager, String statement, String path) throws Exception {
        try (InputStream data = new FileInputStream(path)) {
            return "COPY " + manager.copyIn(statement, data);
        } catch (PSQLException failure) {
            ServerErrorMessage error = failure.getServerErrorMessage();
            return Stream.of(error.getSQLState(), error.getMessage(), error.getDetail(), error.getHint(), error.getWhere())
                    .filter(Objects::nonNull).collect(Collectors.joining("\n"));
        }
    }

    public static void main(String[] arguments) throws Exception {
        try (Connection connection = DriverManager.getConnection(arguments[0])) {
            CopyManager manager = connection.unwrap(PGConnection.class).getCopyAPI();
            for (int i = 1; i < arguments.length; i += 2) {
                System.out.print(copied(manager, arguments[i], arguments[i + 1]) + "\0");
            }
        }
    }
}
