import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes a filter of `key-0` to `key-(n-1)` and prints how many of `absent-0` to `absent-9999` it says true of. */
public class Make {
    public static void main(String[] args) throws Exception {
        int capacity = Integer.parseInt(args[1]);
        int keys = Integer.parseInt(args[3]);
        Funnel<CharSequence> funnel = Funnels.stringFunnel(StandardCharsets.UTF_8);
        BloomFilter<CharSequence> filter = BloomFilter.create(funnel, capacity, Double.parseDouble(args[2]));
        for (int i = 0; i < keys; i++) {
            filter.put("key-" + i);
        }
        int positives = 0;
        for (int i = 0; i < 10000; i++) {
            positives += filter.mightContain("absent-" + i) ? 1 : 0;
        }
        try (FileOutputStream out = new FileOutputStream(args[0])) {
            filter.writeTo(out);
        }
        System.out.println("guava " + args[0] + " " + keys + " " + positives + " " + capacity + " " + args[2] + " mitz_64 0");
    }
}
