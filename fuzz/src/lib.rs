//! What the fuzz targets share.

pub mod exercise;
pub mod guarded;
pub mod image;
pub mod specs;
