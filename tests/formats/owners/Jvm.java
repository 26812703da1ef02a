import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;

/** Filters that Guava, Spark and DataSketches write: {@code java Jvm FOLDER}; see vectors.txt for what is printed. */
public class Jvm {
    record Size(int keys, int capacity, double rate) {}

    static final Size[] SIZES = {
        new Size(1000, 1000, 0.01), new Size(17, 17, 0.001), new Size(0, 500, 0.03), new Size(300, 1000, 0.05),
    };

    interface Writer {
        void write(OutputStream out) throws Exception;
    }

    static Path folder;

    static void print(String format, String variant, Size size, long seed, Predicate<String> has, Writer writer)
            throws Exception {
        String name = format + "/" + variant + "-" + size.keys + ".bin";
        Files.createDirectories(folder.resolve(format));
        try (OutputStream out = new FileOutputStream(folder.resolve(name).toFile())) {
            writer.write(out);
        }
        int positives = 0;
        for (int i = 0; i < 10000; i++) {
            positives += has.test("absent-" + i) ? 1 : 0;
        }
        System.out.printf("%s %s %d %d %d %s %s %d%n", format, name, size.keys, positives, size.capacity, size.rate,
                variant, seed);
    }

    public static void main(String[] args) throws Exception {
        folder = Path.of(args[0]);
        for (Size size : SIZES) {
            guava(size);
            spark(size, 1, 0);
            spark(size, 2, 0);
            dataSketches(size);
        }
        spark(new Size(50, 100, 0.01), 2, 123456789);
    }

    static void guava(Size size) throws Exception {
        Funnel<CharSequence> funnel = Funnels.stringFunnel(StandardCharsets.UTF_8);
        var filter = com.google.common.hash.BloomFilter.create(funnel, size.capacity, size.rate);
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
        var filter = org.apache.datasketches.filters.bloomfilter.BloomFilterBuilder.createByAccuracy(
                size.capacity, size.rate, seed);
        for (int i = 0; i < size.keys; i++) {
            filter.update("key-" + i);
        }
        String variant = size.keys == 0 ? "counted" : "uncounted";
        print("datasketches", variant, size, seed, filter::query, out -> out.write(filter.toByteArray()));
    }
}
