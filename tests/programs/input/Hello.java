/* Hello.java - the shortest program: what a JVM does to start and to end. */
public class Hello {
    public static void main(String[] args) {
        System.out.println("hello " + args.length);
    }
}
