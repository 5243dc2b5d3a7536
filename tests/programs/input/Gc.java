/* Gc.java - threads that make garbage, a pool of workers, and a heap that is too small for all of it. */
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

public class Gc {
    static long litter(int seed) {
        List<byte[]> kept = new ArrayList<>();
        Random random = new Random(seed);
        long sum = 0;
        for (int i = 0; i < 20000; i++) {
            byte[] bytes = new byte[random.nextInt(4000) + 1];
            bytes[0] = (byte) i;
            if (i % 100 == 0)
                kept.add(bytes);
            sum += bytes.length + bytes[0];
        }
        for (byte[] bytes : kept)
            sum += bytes[0];
        return sum;
    }

    static int hash(int seed) {
        int h = 0;
        for (int i = 0; i < 50000; i++)
            h = h * 31 + (i ^ seed);
        return h;
    }

    public static void main(String[] args) throws Exception {
        AtomicLong sum = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 6; t++) {
            final int seed = t;
            threads.add(new Thread(() -> sum.addAndGet(litter(seed))));
            threads.get(t).start();
        }
        for (Thread t : threads)
            t.join();
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Integer>> hashes = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            final int seed = i;
            hashes.add(pool.submit(() -> hash(seed)));
        }
        int all = 0;
        for (Future<Integer> h : hashes)
            all ^= h.get();
        pool.shutdown();
        System.gc();
        System.out.println(sum.get() + " " + all);
    }
}
