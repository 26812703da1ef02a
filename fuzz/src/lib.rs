//! What the fuzz targets share.

pub mod batch;
pub mod digests;
pub mod exercise;
pub mod guarded;
pub mod image;
pub mod maps;
pub mod specs;
