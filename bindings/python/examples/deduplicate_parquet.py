"""Copies a folder of Parquet files without the rows whose value in a column came before.

    python deduplicate_parquet.py FOLDER COLUMN OUTPUT [--rate 1e-6] [--filter seen.petal --rows 100_000_000]

Takes pyarrow. Memory holds one batch of rows and the filter: 5 bytes a row at a rate of 1e-6. A row is lost only where
the filter mistakes a new value for one that came before, which happens at most at that rate. With --filter the filter
is a file that the next run goes on with, so that new data is compared with all that came before it.
"""

import argparse
import os
import pathlib

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

import petal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("column")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--rows", type=int, help="how many different values there will be; else, as many as rows now")
    parser.add_argument("--rate", type=float, default=1e-6, help="the share of new rows that may be lost")
    parser.add_argument("--filter", type=pathlib.Path, help="where the filter is kept from run to run")
    parser.add_argument("--batch", type=int, default=65_536, help="rows in memory at a time")
    given = parser.parse_args()

    paths = sorted(given.folder.glob("*.parquet"))
    if given.filter and given.filter.exists():
        seen = petal.Filter.open(given.filter, "load")
    else:
        rows = given.rows or sum(pyarrow.parquet.read_metadata(path).num_rows for path in paths)
        seen = petal.Filter(rows, given.rate)
    given.output.mkdir(parents=True, exist_ok=True)
    read = kept = 0
    for path in paths:
        source = pyarrow.parquet.ParquetFile(path)
        # What is left of a run that was cut off has another name than a whole file.
        partial = given.output / (path.name + ".partial")
        with pyarrow.parquet.ParquetWriter(partial, source.schema_arrow) as writer:
            for batch in source.iter_batches(given.batch):
                # The strings stay where Arrow has them, and the answer is an Arrow array that selects rows. Rows
                # without a value stay too, because nothing says that two of them are the same.
                column = batch.column(given.column)
                is_new = pa.array(seen.add_many(column, nulls="skip"))
                chosen = batch.filter(pc.or_(is_new, column.is_null()))
                read += batch.num_rows
                kept += chosen.num_rows
                writer.write_batch(chosen)
        os.replace(partial, given.output / path.name)
    if given.filter:
        seen.save(given.filter)
    print(f"{kept} of {read} rows are new; {seen.statistics().rate:.1e} of what comes next would be lost")


if __name__ == "__main__":
    main()
