import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.io.util.DataOutputBuffer;
import org.apache.cassandra.utils.BloomFilter;
import org.apache.cassandra.utils.BloomFilterSerializer;
import org.apache.cassandra.utils.FilterFactory;
import org.apache.cassandra.utils.IFilter;

/** Filters of Cassandra; README.md says how it is called and what it prints. Petal makes none, so nothing is read. */
public class Cassandra {
    static IFilter.FilterKey key(String text) {
        return Murmur3Partitioner.instance.decorateKey(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    static void print(String format, String suffix, int keys, BloomFilter filter, byte[] bytes) throws Exception {
        int positives = 0;
        for (int i = 0; i < 10000; i++) {
            positives += filter.isPresent(key("absent-" + i)) ? 1 : 0;
        }
        String name = format + "/" + keys + ".bin";
        Path path = Path.of(suffix, name);
        Files.createDirectories(path.getParent());
        Files.write(path, bytes);
        System.out.println(format + " " + name + " " + keys + " " + positives);
    }

    public static void main(String[] args) throws Exception {
        for (int i = 2; i < args.length; i++) {
            String[] size = args[i].split(":");
            int keys = Integer.parseInt(size[0]);
            write(args[1], keys, Integer.parseInt(size[1]), Double.parseDouble(size[2]));
        }
    }

    static void write(String folder, int keys, int capacity, double rate) throws Exception {
        BloomFilter filter = (BloomFilter) FilterFactory.getFilter(capacity, rate);
        for (int i = 0; i < keys; i++) {
            filter.add(key("key-" + i));
        }
        DataOutputBuffer out = new DataOutputBuffer();
        BloomFilterSerializer.serialize(filter, out);
        byte[] bytes = out.toByteArray();
        print("cassandra", folder, keys, filter, bytes);
        // Tables before 4.0 have the bytes of each word reversed; today's code still reads them.
        byte[] old = bytes.clone();
        for (int at = 8; at < old.length; at++) {
            old[at] = bytes[8 + (at - 8) / 8 * 8 + 7 - (at - 8) % 8];
        }
        var in = new DataInputStream(new ByteArrayInputStream(old));
        print("cassandra_3", folder, keys, BloomFilterSerializer.deserialize(in, true), old);
    }
}
