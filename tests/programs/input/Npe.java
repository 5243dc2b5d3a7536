/* Npe.java - null pointers that are caught, which compiled code finds by SIGSEGV, and one that ends the program. */
public class Npe {
    static String none;

    static int caught(int times) {
        int n = 0;
        for (int i = 0; i < times; i++) {
            try {
                n += none.length();
            } catch (NullPointerException e) {
                n++;
            }
        }
        return n;
    }

    public static void main(String[] args) {
        System.out.println("caught " + caught(20000));
        System.out.println(none.length()); /* ROOT CAUSE */
    }
}
