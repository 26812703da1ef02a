"""Prints the rows of a Parquet file whose value in a column is in a filter that somebody else made.

    python rows_by_file.py seen.petal rows.parquet COLUMN

Takes polars. The filter is mapped and not loaded, so that it may be larger than memory, and processes share it.
"""

import argparse

import polars as pl

import petal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("filter")
    parser.add_argument("rows")
    parser.add_argument("column")
    given = parser.parse_args()

    with petal.Filter.open(given.filter) as seen:
        rows = pl.read_parquet(given.rows)
        print(rows.filter(pl.Series(seen.contains(rows[given.column]))).write_csv(), end="")


if __name__ == "__main__":
    main()
