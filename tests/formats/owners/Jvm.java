import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;
import org.apache.datasketches.filters.bloomfilter.BloomFilterBuilder;
import org.apache.datasketches.memory.Memory;

/** Filters of Guava, Spark and DataSketches; README.md says how it is called and what it prints. */
public class Jvm {
    record Size(int keys, int capacity, double rate) {
        static Size of(String text) {
            String[] parts = text.split(":");
            return new Size(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Double.parseDouble(parts[2]));
        }
    }

    interface Writer {
        void write(OutputStream out) throws Exception;
    }

    static final Funnel<CharSequence> FUNNEL = Funnels.stringFunnel(StandardCharsets.UTF_8);

    static Path folder;

    public static void main(String[] args) throws Exception {
        folder = Path.of(args[1]);
        if (args[0].equals("read")) {
            read();
            return;
        }
        for (int i = 2; i < args.length; i++) {
            Size size = Size.of(args[i]);
            guava(size);
            spark(size, 1, 0);
            spark(size, 2, 0);
            dataSketches(size);
        }
        spark(new Size(50, 100, 0.01), 2, 123456789);
    }

    static void print(String format, String variant, Size size, long seed, Predicate<String> has, Writer writer)
            throws Exception {
        String name = format + "/" + variant + "-" + size.keys + ".bin";
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        writer.write(out);
        Files.createDirectories(folder.resolve(format));
        Files.write(folder.resolve(name), out.toByteArray());
        System.out.printf("%s %s %d %d %d %s %s %d%n", format, name, size.keys, count("absent", 10000, has),
                size.capacity, size.rate, variant, seed);
    }

    static int count(String prefix, int keys, Predicate<String> has) {
        int found = 0;
        for (int i = 0; i < keys; i++) {
            found += has.test(prefix + "-" + i) ? 1 : 0;
        }
        return found;
    }

    static void guava(Size size) throws Exception {
        var filter = com.google.common.hash.BloomFilter.create(FUNNEL, size.capacity, size.rate);
        for (int i = 0; i < size.keys; i++) {
            filter.put("key-" + i);
        }
        print("guava", "mitz_64", size, 0, filter::mightContain, filter::writeTo);
    }

    static void spark(Size size, int version, int seed) throws Exception {
        var versions = org.apache.spark.util.sketch.BloomFilter.Version.values();
        long bits = (long) (-size.capacity * Math.log(size.rate) / (Math.log(2) * Math.log(2)));
        var filter = org.apache.spark.util.sketch.BloomFilter.create(
                versions[version - 1], size.capacity, bits, seed);
        for (int i = 0; i < size.keys; i++) {
            filter.putString("key-" + i);
        }
        print("spark", "v" + version, size, seed, filter::mightContainString, filter::writeTo);
    }

    static void dataSketches(Size size) throws Exception {
        long seed = 9001;
        var filter = BloomFilterBuilder.createByAccuracy(size.capacity, size.rate, seed);
        for (int i = 0; i < size.keys; i++) {
            filter.update("key-" + i);
        }
        String variant = size.keys == 0 ? "counted" : "uncounted";
        print("datasketches", variant, size, seed, filter::query, out -> out.write(filter.toByteArray()));
    }

    /** The filter of a file, or null for a format of others. */
    static Predicate<String> open(String format, byte[] bytes) throws Exception {
        InputStream in = new ByteArrayInputStream(bytes);
        switch (format) {
            case "guava":
                return com.google.common.hash.BloomFilter.readFrom(in, FUNNEL)::mightContain;
            case "spark":
                return org.apache.spark.util.sketch.BloomFilter.readFrom(in)::mightContainString;
            case "datasketches":
                return org.apache.datasketches.filters.bloomfilter.BloomFilter.heapify(Memory.wrap(bytes))::query;
            default:
                return null;
        }
    }

    static void read() throws Exception {
        int failed = 0;
        for (String line : Files.readAllLines(folder.resolve("vectors.txt"))) {
            String[] words = line.split(" ");
            Predicate<String> has = open(words[0], Files.readAllBytes(folder.resolve(words[1])));
            if (has == null) {
                continue;
            }
            int keys = Integer.parseInt(words[2]);
            int found = count("key", keys, has);
            int positives = count("absent", 10000, has);
            boolean same = found == keys && positives == Integer.parseInt(words[3]);
            System.out.printf("%s %s: %d keys, %d positives%n", same ? "same" : "OTHER", words[1], found, positives);
            failed += same ? 0 : 1;
        }
        System.exit(failed > 0 ? 1 : 0);
    }
}
