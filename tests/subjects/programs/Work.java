// Work.java - java: compiled loops, threads, exceptions, collections, null checks by SIGSEGV.
import java.util.stream.IntStream;

public class Work {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

    public static void main(String[] args) throws Exception {
        System.out.println(fib(27));
        System.out.println(IntStream.range(0, 100000).parallel().mapToLong(i -> i * 3L).sum());
        int nulls = 0;
        for (int i = 0; i < 20000; i++) {
            String s = i % 100 == 0 ? null : "x";
            try { nulls += s.length() - 1; } catch (NullPointerException e) { nulls++; }
        }
        System.out.println(nulls);
        Thread t = new Thread(() -> System.out.println("thread"));
        t.start();
        t.join();
        System.exit(3);
    }
}
