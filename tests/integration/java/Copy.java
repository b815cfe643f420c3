// Copies standard input into a table by pgjdbc's CopyManager, and prints how many rows the server
// says that it stored. Arguments: the URL, the COPY statement.
import java.sql.Connection;
import java.sql.DriverManager;
import org.postgresql.PGConnection;

public class Copy {
    public static void main(String[] arguments) throws Exception {
        try (Connection connection = DriverManager.getConnection(arguments[0])) {
            PGConnection postgres = connection.unwrap(PGConnection.class);
            System.out.print(postgres.getCopyAPI().copyIn(arguments[1], System.in));
        }
    }
}
