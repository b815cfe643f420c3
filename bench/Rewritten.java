// Clients of pgjdbc with reWriteBatchedInserts, in autocommit: each batch of 100 rows comes as a group
// of INSERTs of 64, 32 and 4 rows. Prints the rows a second that were stored behind a warm-up of a
// quarter of the time.
//   java -cp postgresql.jar Rewritten.java PORT DATABASE CLIENTS SECONDS BASE [with-hash]
// BASE is the first user's number: no two runs may share one. with-hash: a hash is brought along.
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class Rewritten {
    static final int ROWS = 100;

    public static void main(String[] arguments) throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:" + arguments[0] + "/" + arguments[1]
            + "?user=app&reWriteBatchedInserts=true";
        int clients = Integer.parseInt(arguments[2]);
        double seconds = Double.parseDouble(arguments[3]);
        long base = Long.parseLong(arguments[4]);
        boolean withHash = arguments.length > 5;
        long begun = System.nanoTime(), from = begun + (long) (seconds * 0.25e9), to = begun + (long) (seconds * 1e9);
        ExecutorService threads = Executors.newFixedThreadPool(clients);
        List<Future<Long>> counts = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            long first = base + i * 10_000_000L;
            Callable<Long> work = () -> write(url, withHash, first, from, to);
            counts.add(threads.submit(work));
        }
        long rows = 0;
        for (Future<Long> count : counts)
            rows += count.get();
        threads.shutdown();
        System.out.println(rows * 1e9 / (to - from));
    }

    /** Rows of the batches that ended in time. */
    static long write(String url, boolean withHash, long first, long from, long to) throws SQLException {
        String text = withHash ? "insert into events (userid, ts, event, userhash) values (?, '2026-01-01 00:00:00+00', ?, ?)"
                               : "insert into events (userid, ts, event) values (?, '2026-01-01 00:00:00+00', ?)";
        long rows = 0, user = first;
        try (Connection connection = DriverManager.getConnection(url);
             PreparedStatement statement = connection.prepareStatement(text)) {
            while (System.nanoTime() < to) {
                for (int i = 0; i < ROWS; i++, user++) {
                    statement.setLong(1, user);
                    statement.setString(2, "click");
                    if (withHash)
                        statement.setLong(3, user * 0x9E3779B97F4A7C15L);
                    statement.addBatch();
                }
                statement.executeBatch();
                long now = System.nanoTime();
                rows += now >= from && now < to ? ROWS : 0;
            }
        }
        return rows;
    }
}
