// Tasks.cs - generated code, threads, garbage and a null reference that is caught.
using System;
using System.Collections.Generic;
using System.Threading;

class Tasks
{
    static long total;

    static void Work(int seed)
    {
        var kept = new List<byte[]>();
        for (int i = 0; i < 5000; i++) {
            var b = new byte[(i * seed) % 3000 + 1];
            if (i % 100 == 0)
                kept.Add(b);
            Interlocked.Add(ref total, b.Length);
        }
    }

    static void Main()
    {
        var threads = new List<Thread>();
        for (int t = 1; t <= 4; t++) {
            int seed = t;
            threads.Add(new Thread(() => Work(seed)));
        }
        threads.ForEach(t => t.Start());
        threads.ForEach(t => t.Join());
        GC.Collect();
        Console.WriteLine(total);
        string none = null;
        try {
            Console.WriteLine(none.Length);
        } catch (NullReferenceException) {
            Console.WriteLine("caught");
        }
    }
}
