//! Indexes: rows of bits that are searched.

use petal::{Image, Index, IndexBuilder, SearchOptions, Spec, create_index, kinds::index};

/// A spec of rows of so many bits.
fn spec(width: u64, capacity: u64) -> Spec {
    let mut spec = Spec { capacity, ..Spec::default() };
    spec.set(&index::WIDTH, width as f64).unwrap();
    spec
}

#[test]
fn rows_are_added_and_found() {
    let mut builder = IndexBuilder::new(&spec(128, 0)).unwrap();
    for id in 0..3000_u64 {
        builder.add(id, &u128::from(id).to_le_bytes()).unwrap();
    }
    let index = builder.finish().unwrap();
    assert_eq!((index.rows(), index.len(), index.capacity()), (3000, 3000, 3000));
    let hits = index.at_least(&u128::from(255_u64).to_le_bytes(), 1.0, &mut SearchOptions::default()).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [255]);
    let mut full = create_index(&spec(128, 1)).unwrap();
    full.add(7, &[0xff; 16]).unwrap();
    assert_eq!(full.add(8, &[0; 16]).unwrap_err().status(), petal::Status::Full);
    let mut bytes = Vec::new();
    full.serialize(&mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    let again: Index = petal::load_as(&bytes, &petal::OpenOptions::default()).unwrap();
    assert_eq!(again.row_at(0).unwrap(), Some((7, 128)));
    again.verify().unwrap();
}
