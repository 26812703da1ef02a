import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.hadoop.hbase.nio.SingleByteBuff;
import org.apache.hadoop.hbase.util.BloomFilterChunk;
import org.apache.hadoop.hbase.util.BloomFilterUtil;
import org.apache.hadoop.hbase.util.Hash;
import org.apache.hadoop.hbase.util.JenkinsHash;
import org.apache.hadoop.hbase.util.MurmurHash;
import org.apache.hadoop.hbase.util.MurmurHash3;

/** Bloom chunks of HBase; README.md says how it is called and what it prints. Keys are rows. */
public class HBase {
    /** The variants, in the order of HBase's hash types. */
    static final String[] VARIANTS = {"jenkins", "murmur", "murmur3"};
    static final Hash[] HASHES = {JenkinsHash.getInstance(), MurmurHash.getInstance(), MurmurHash3.getInstance()};

    static Path folder;

    public static void main(String[] args) throws Exception {
        folder = Path.of(args[1]);
        if (args[0].equals("read")) {
            read();
            return;
        }
        for (int i = 2; i < args.length; i++) {
            String[] size = args[i].split(":");
            int keys = Integer.parseInt(size[0]);
            for (int type = 0; type < VARIANTS.length; type++) {
                write(type, VARIANTS[type] + "-" + keys, String.valueOf(keys), numbered("key", keys),
                        Integer.parseInt(size[1]), Double.parseDouble(size[2]));
            }
        }
        // Rows of every length with bytes above 127, which Java reads as negative numbers.
        List<String> letters = new ArrayList<>();
        for (int length = 1; length <= 40; length++) {
            letters.add("\u00e9\u017c\u4e2d".repeat(20).substring(0, length) + length);
        }
        Files.createDirectories(folder.resolve("hbase"));
        Files.write(folder.resolve("hbase/letters.keys"), letters);
        for (int type = 0; type < VARIANTS.length; type++) {
            write(type, VARIANTS[type] + "-letters", "hbase/letters.keys", letters, 100, 0.001);
        }
    }

    static List<String> numbered(String prefix, int count) {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            keys.add(prefix + "-" + i);
        }
        return keys;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static int count(List<String> keys, Predicate<byte[]> has) {
        int found = 0;
        for (String key : keys) {
            found += has.test(bytes(key)) ? 1 : 0;
        }
        return found;
    }

    static void write(int type, String name, String said, List<String> keys, int capacity, double rate)
            throws Exception {
        BloomFilterChunk chunk = new BloomFilterChunk(capacity, rate, type, 0);
        chunk.allocBloom();
        // The public method takes cells, whose classes need all of Hadoop.
        Method add = BloomFilterChunk.class.getDeclaredMethod("add", byte[].class, int.class, int.class);
        add.setAccessible(true);
        for (String key : keys) {
            add.invoke(chunk, bytes(key), 0, bytes(key).length);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        DataOutputStream data = new DataOutputStream(out);
        // What the constructor of BloomFilterChunk reads, in its order.
        data.writeInt((int) chunk.getByteSize());
        data.writeInt(chunk.getHashCount());
        data.writeInt(chunk.getHashType());
        data.writeInt((int) chunk.getKeyCount());
        chunk.writeBloom(data);
        Files.createDirectories(folder.resolve("hbase"));
        Files.write(folder.resolve("hbase/" + name + ".bin"), out.toByteArray());
        System.out.printf("hbase hbase/%s.bin %s %d %d %s %s 0%n", name, said,
                count(numbered("absent", 10000), open(out.toByteArray())), capacity, rate, VARIANTS[type]);
    }

    /** Finds keys in a chunk as HBase does, from the bits of a block and what the meta block says. */
    static Predicate<byte[]> open(byte[] chunk) {
        ByteBuffer meta = ByteBuffer.wrap(chunk);
        int size = meta.getInt();
        int hashes = meta.getInt();
        Hash hash = HASHES[meta.getInt()];
        SingleByteBuff bits = new SingleByteBuff(ByteBuffer.wrap(chunk));
        return key -> BloomFilterUtil.contains(key, 0, key.length, bits, 16, size, hash, hashes);
    }

    static void read() throws Exception {
        int failed = 0;
        for (String line : Files.readAllLines(folder.resolve("vectors.txt"))) {
            String[] words = line.split(" ");
            if (!words[0].equals("hbase")) {
                continue;
            }
            Predicate<byte[]> has = open(Files.readAllBytes(folder.resolve(words[1])));
            int keys = Integer.parseInt(words[2]);
            int found = count(numbered("key", keys), has);
            int positives = count(numbered("absent", 10000), has);
            boolean same = found == keys && positives == Integer.parseInt(words[3]);
            System.out.printf("%s %s: %d keys, %d positives%n", same ? "same" : "OTHER", words[1], found, positives);
            failed += same ? 0 : 1;
        }
        System.exit(failed > 0 ? 1 : 0);
    }
}
