// Logs in as often as it is told to on standard input, a line each: URL, user, password and perhaps
// an INSERT, separated by tabs. Prints what came of it: "ok", a value and the rows written; or
// "error", SQLSTATE and message.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

public class Login {
    static String attempt(String url, String user, String password, String insert) {
        try (Connection connection = DriverManager.getConnection(url, user, password);
             Statement statement = connection.createStatement()) {
            ResultSet result = statement.executeQuery("select 41 + 1");
            result.next();
            String value = result.getString(1);
            int rows = insert.isEmpty() ? 0 : statement.executeUpdate(insert);
            return "ok\t" + value + "\t" + rows;
        } catch (SQLException e) {
            return "error\t" + e.getSQLState() + "\t" + e.getMessage().replace("\n", " ");
        }
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        for (String line; (line = in.readLine()) != null;) {
            String[] parts = line.split("\t", -1);
            out.println(attempt(parts[0], parts[1], parts[2], parts[3]));
        }
    }
}
